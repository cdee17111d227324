//! Tokens that are right, and each way in which one is not.

use ring::hmac;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::json;

use super::*;

// Tokens of another implementation: their keys are the modulus of an RSA key, and a point on P-256.
const RSA_MODULUS: &str = "w28c9eSVIHimGbYHY35_1ZIxao3VjLF91dEiDtrlqPb3sAfTwrJ6c2hTzbABN_adNQ-yxzYMyFyXfKhyWNJbo6CogUH6x5Nidhrx\
    75ugtnv1LQq-szd_cte7VoVH-4C-g6YvLlScpz9zjcZY8ckjqW6HSIfRMX2YNFPe6Q1j4u-Qup2CpbY_YXij_3XoV4PijiRyFeZ8\
    ZeLYjAQLSuzC2NY0bLl2NcwuubpbCRP35vtEaPNVqWRR07cPQ8b0M9tmjrjiyMliubElnZ62hVjwxP6JQLX8pw44uY1hmT0Z4YYv\
    5eicK2XpSLsjaQ-VO9SlK2m-_G6S2365Y68xm_vHnw";
const POINT: (&str, &str) =
    ("R8uwNT3qYxXLspDrULluMkqJiGpW4usS6qI2VV43QzU", "68HwdRvg2V4o6otvIDgEsUMsyWKevwzmkn6jSRKsiwQ");
const RS256_TOKEN: &str = "eyJhbGciOiJSUzI1NiIsImtpZCI6InIifQ.eyJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUiLCJzdWIiOiIwMDQyIiwiYXVkIjoid\
    HVybmxlYWYiLCJpYXQiOjEwMDAsImV4cCI6MjAwMCwibm9uY2UiOiJuIn0.gxLrUBpbOtF3m9lYaGJWv6b2asHsaVuzPv3Awekxk\
    3CUEsaJyXFiLCQHftVHisrof0Ykq5-iFFQxYIgJDefmtLc1G8-hN2T9r0VhSCTKvuMiVkxfVm8Uwn1DuFNb9Wpv3PNcCB4SLEUkH\
    XZ0aW60iG8IOBQ3L7fcFzSFdoF_UkrUGlOiNOAGsDcDY1xUb27caTiGrldmDgAHkX_oxGHf67O7lrArp2EXodGolhaGQZttYlQYD\
    ehJkHV7vyWGsEH-_QtjFqUaMFulaktDigX2pTQUxc3IsozvMtnFTOV7i_sZ2HU9nSqIGJuOx6Oj43ZK9UtVp1IbIaCVzp_Ug5Ouf\
    w";
const ES256_TOKEN: &str = "eyJhbGciOiJFUzI1NiIsImtpZCI6ImUifQ.eyJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUiLCJzdWIiOiIwMDQyIiwiYXVkIjoid\
    HVybmxlYWYiLCJpYXQiOjEwMDAsImV4cCI6MjAwMCwibm9uY2UiOiJuIn0.ut0Ii7f2ZsuMeaF0rubwJV2UUVMK0Q2Fr5IU8FMZb\
    EC6flq95SWMfB8izfHdOBm8ji1oP0OrZnNDgHZ3i64PQw";

/// A key that signs, and its document.
struct TestKey {
    pair: EcdsaKeyPair,
    id: &'static str,
}

impl TestKey {
    fn new(id: &'static str) -> Self {
        let (random, algorithm) = (SystemRandom::new(), &ECDSA_P256_SHA256_FIXED_SIGNING);
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        Self { pair: EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).unwrap(), id }
    }

    fn json(&self) -> Value {
        let (x, y) = self.pair.public_key().as_ref()[1..].split_at(32);
        json!({ "kty": "EC", "crv": "P-256", "kid": self.id, "x": encoded(x), "y": encoded(y) })
    }

    fn sign(&self, header: &Value, claims: &Value) -> String {
        let message = format!("{}.{}", encoded(header.to_string()), encoded(claims.to_string()));
        let signature = self.pair.sign(&SystemRandom::new(), message.as_bytes()).unwrap();
        format!("{message}.{}", encoded(signature))
    }
}

fn encoded(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn keys(keys: Value) -> IssuerKeys {
    serde_json::from_value(json!({ "keys": keys })).unwrap()
}

fn expected() -> ExpectedIdToken<'static> {
    ExpectedIdToken {
        issuer: "https://id.example",
        client_id: "turnleaf",
        nonce: "n",
        authenticated_since: None,
        now: DateTime::from_timestamp(1_500, 0).unwrap(),
    }
}

fn good_claims() -> Value {
    json!({ "iss": "https://id.example", "sub": "0042", "aud": "turnleaf", "iat": 1_000, "exp": 2_000, "nonce": "n" })
}

fn verify(token: &str, known: &IssuerKeys) -> Result<Map<String, Value>, IdTokenFault> {
    verified_claims(token, known, &expected())
}

#[test]
fn signatures_of_both_algorithms_are_verified() {
    let rsa = json!({ "kty": "RSA", "kid": "r", "use": "sig", "alg": "RS256", "n": RSA_MODULUS, "e": "AQAB" });
    let ec = json!({ "kty": "EC", "crv": "P-256", "kid": "e", "x": POINT.0, "y": POINT.1 });
    let odd = json!({ "kty": "oct", "k": "AAAA" });
    let both = keys(json!([odd, 7, rsa, ec]));
    for token in [RS256_TOKEN, ES256_TOKEN] {
        assert_eq!(verify(token, &both).map(Value::Object), Ok(good_claims()));
        let (message, signature) = token.rsplit_once('.').unwrap();
        let cut = format!("{message}.{}", &signature[..signature.len() - 2]);
        let other = format!("{message}.{}", RS256_TOKEN.rsplit_once('.').unwrap().1.replace('A', "B"));
        for changed in [token.replace("eyJpc3Mi", "eyJpc3MK"), cut, other] {
            assert_eq!(verify(&changed, &both), Err(IdTokenFault::Signature), "{changed}");
        }
        assert_eq!(verify(token, &keys(json!([]))), Err(IdTokenFault::Signature), "the keys were changed");
    }
    // A key that is for something else.
    for changed in [json!({ "use": "enc" }), json!({ "alg": "RS512" }), json!({ "kid": "x" }), json!({ "kty": "EC" })] {
        let mut key = rsa.clone();
        key.as_object_mut().unwrap().extend(changed.as_object().unwrap().clone());
        assert_eq!(verify(RS256_TOKEN, &keys(json!([key]))), Err(IdTokenFault::Signature), "{changed}");
    }
}

#[test]
fn algorithms_that_prove_nothing_are_refused() {
    let key = TestKey::new("k");
    let known = keys(json!([key.json()]));
    let header = |alg: &str| json!({ "alg": alg, "kid": "k" });
    assert!(verify(&key.sign(&header("ES256"), &good_claims()), &known).is_ok());
    for alg in ["none", "None", "HS256", "ES384", "es256", ""] {
        let token = key.sign(&header(alg), &good_claims());
        assert_eq!(verify(&token, &known), Err(IdTokenFault::Algorithm), "{alg}");
        let unsigned = format!("{}.", token.rsplit_once('.').unwrap().0);
        assert_eq!(verify(&unsigned, &known), Err(IdTokenFault::Algorithm), "{alg}");
    }
    // The public key as shared secret, under either name.
    let secret = hmac::Key::new(hmac::HMAC_SHA256, key.pair.public_key().as_ref());
    for (alg, fault) in [("HS256", IdTokenFault::Algorithm), ("ES256", IdTokenFault::Signature)] {
        let message = format!("{}.{}", encoded(header(alg).to_string()), encoded(good_claims().to_string()));
        let token = format!("{message}.{}", encoded(hmac::sign(&secret, message.as_bytes())));
        assert_eq!(verify(&token, &known), Err(fault), "{alg}");
    }
    let critical = json!({ "alg": "ES256", "kid": "k", "crit": ["b64"], "b64": false });
    assert_eq!(verify(&key.sign(&critical, &good_claims()), &known), Err(IdTokenFault::Algorithm));
    for malformed in ["", ".", "..", "a.b", "a.b.c", "e30.e30.e30"] {
        assert_eq!(verify(malformed, &known), Err(IdTokenFault::Malformed), "{malformed}");
    }
}

#[test]
fn key_that_token_brings_along_is_not_used() {
    let (known_key, own_key) = (TestKey::new("k"), TestKey::new("k"));
    let known = keys(json!([known_key.json()]));
    let place = "https://evil.example/keys";
    for brought in [json!({ "jwk": own_key.json() }), json!({ "jku": place }), json!({ "x5u": place })] {
        let mut header = json!({ "alg": "ES256", "kid": "k" });
        header.as_object_mut().unwrap().extend(brought.as_object().unwrap().clone());
        assert_eq!(verify(&own_key.sign(&header, &good_claims()), &known), Err(IdTokenFault::Signature), "{header}");
        assert!(verify(&known_key.sign(&header, &good_claims()), &known).is_ok(), "{header}");
    }
}

#[test]
fn each_claim_has_to_be_right() {
    let key = TestKey::new("k");
    let known = keys(json!([key.json()]));
    let both = json!(["other", "turnleaf"]);
    for (changed, fault) in [
        (json!({}), None),
        (json!({ "iss": "https://id.example/" }), Some(IdTokenFault::Issuer)),
        (json!({ "iss": "https://other.example" }), Some(IdTokenFault::Issuer)),
        (json!({ "iss": null }), Some(IdTokenFault::Issuer)),
        (json!({ "aud": "other" }), Some(IdTokenFault::Audience)),
        (json!({ "aud": ["turnleaf"] }), None),
        (json!({ "aud": both }), Some(IdTokenFault::Audience)),
        (json!({ "aud": both, "azp": "turnleaf" }), None),
        (json!({ "aud": both, "azp": "other" }), Some(IdTokenFault::Audience)),
        (json!({ "azp": "other" }), Some(IdTokenFault::Audience)),
        (json!({ "aud": [] }), Some(IdTokenFault::Audience)),
        (json!({ "aud": null, "azp": "turnleaf" }), Some(IdTokenFault::Audience)),
        (json!({ "exp": 1_441 }), None),
        (json!({ "exp": 1_440 }), Some(IdTokenFault::Expired)),
        (json!({ "exp": 1e30 }), Some(IdTokenFault::Malformed)),
        (json!({ "exp": "2000" }), Some(IdTokenFault::Malformed)),
        (json!({ "exp": null }), Some(IdTokenFault::Malformed)),
        (json!({ "iat": 1_560.5 }), None),
        (json!({ "iat": 1_561 }), Some(IdTokenFault::NotYetValid)),
        (json!({ "iat": null }), Some(IdTokenFault::Malformed)),
        (json!({ "nbf": 1_561 }), Some(IdTokenFault::NotYetValid)),
        (json!({ "nonce": "m" }), Some(IdTokenFault::Nonce)),
        (json!({ "nonce": null }), Some(IdTokenFault::Nonce)),
        (json!({ "sub": "" }), Some(IdTokenFault::Subject)),
        (json!({ "sub": 42 }), Some(IdTokenFault::Subject)),
        (json!({ "sub": "a\u{0}b" }), Some(IdTokenFault::Subject)),
        (json!({ "sub": "a".repeat(limits::SUBJECT_BYTES + 1) }), Some(IdTokenFault::Subject)),
    ] {
        let mut claims = good_claims();
        claims.as_object_mut().unwrap().extend(changed.as_object().unwrap().clone());
        let verified = verify(&key.sign(&json!({ "alg": "ES256", "kid": "k" }), &claims), &known);
        assert_eq!(verified.err(), fault, "{changed}");
    }
    let mut claims = good_claims();
    claims["nonce"] = "".into();
    let token = key.sign(&json!({ "alg": "ES256" }), &claims);
    let without_nonce = ExpectedIdToken { nonce: "", ..expected() };
    assert_eq!(verified_claims(&token, &known, &without_nonce), Err(IdTokenFault::Nonce));
}

#[test]
fn only_authentication_after_it_was_asked_for_again_counts() {
    let key = TestKey::new("k");
    let known = keys(json!([key.json()]));
    let verify_since = |auth_time: Value, since: Option<i64>| {
        let mut claims = good_claims();
        if !auth_time.is_null() {
            claims["auth_time"] = auth_time;
        }
        let token = key.sign(&json!({ "alg": "ES256", "kid": "k" }), &claims);
        let authenticated_since = since.and_then(|since| DateTime::from_timestamp(since, 0));
        verified_claims(&token, &known, &ExpectedIdToken { authenticated_since, ..expected() }).map(drop)
    };
    for (auth_time, since, result) in [
        (json!(null), Some(1_400), Err(IdTokenFault::NoAuthenticationTime)),
        (json!(null), None, Ok(())),
        (json!(1_400), Some(1_400), Ok(())),
        (json!(1_340), Some(1_400), Ok(())),
        (json!(1_339), Some(1_400), Err(IdTokenFault::Authentication)),
        (json!("1400"), Some(1_400), Err(IdTokenFault::Malformed)),
        (json!(900), None, Ok(())),
    ] {
        assert_eq!(verify_since(auth_time.clone(), since), result, "{auth_time} {since:?}");
    }
}
