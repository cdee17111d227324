//! The codes of sentences about accounts with their English templates.

/// Passes the codes of accounts, after those that are given, to the macro that adds or defines the others.
macro_rules! with_account_codes {
    ($next:ident: $($others:tt)*) => {
        $next! {
            $($others)*
            AccountNameInvalid, "account_name_invalid", "must be 1 to {most} letters, digits or . _ - + @, without spaces";
            AccountNameTaken, "account_name_taken", "is already in use";
            PasswordCommon, "password_common", "is one of the passwords that are guessed first; choose another one";
            PasswordWrong, "password_wrong", "is not your current password";
            PasswordUnchanged, "password_unchanged", "is the one that was made for you; choose another one";
            PasswordExpired, "password_expired", "This password was made for you and has expired. Ask the administrator for a new one.";
            PasswordChangeRequired, "password_change_required", "Your password was made for you. Choose your own first.";
            WrongNameOrPassword, "wrong_name_or_password", "The name or the password is wrong.";
            TooManyAttempts, "too_many_attempts", "Too many attempts. Try again in {seconds} seconds.";
            SignInBusy, "sign_in_busy", "Many people are signing in. Try again in a moment.";
            SetupCodeWrong, "setup_code_wrong", "is not the code that the server printed when it started";
            AlreadySetUp, "already_set_up", "This server is already set up. Sign in.";
            InviteUnusable, "invite_unusable", "This invitation has expired or was already used. Ask for a new one.";
            PasswordNeeded, "password_needed", "Enter your password again. It was not entered within the last 10 minutes.";
            SecretNotKept, "secret_not_kept", "was not kept while you entered your password; enter it again";
            SignInCodeWrong, "sign_in_code_wrong", "The code is wrong or was already used.";
            SecondFactorOn, "second_factor_on", "The account already has a second factor. Turn it off first.";
            SecondFactorRequired, "second_factor_required", "This server requires a second factor of you. Set one up first.";
            LastSecondFactor, "last_second_factor",
                "This server requires a second factor of you, so the last one stays. Set up another one first.";
            PasskeyRequired, "passkey_required", "This server requires a second factor of you. Sign in with your passkey.";
            SecondFactorOff, "second_factor_off", "The account has no second factor.";
            SecondFactorNotBegun, "second_factor_not_begun",
                "This code belongs to another setup. Set up the second factor again.";
            PasskeyUnusable, "passkey_unusable", "This passkey cannot be used here. Try another one, or your password.";
            PasskeyNotAdded, "passkey_not_added", "The passkey could not be added. Try again.";
            PasskeysUnavailable, "passkeys_unavailable", "Passkeys cannot be used at this address.";
            IdTokenUnusable, "id_token_unusable",
                "The sign-in service at {host} sent an identity that cannot be trusted ({error}). Sign in again, or ask the \
                administrator.";
            AuthenticationTimeMissing, "authentication_time_missing",
                "The sign-in service at {host} did not say when you signed in there, so it has not confirmed that it is you. \
                Ask the administrator.";
            IdentityUnknown, "identity_unknown",
                "No account here belongs to this sign-in. Sign in another way and link it on the page Account, or ask the \
                administrator for an invitation.";
            IdentityLinkedElsewhere, "identity_linked_elsewhere", "This sign-in already belongs to another account.";
            IdentityNotYours, "identity_not_yours", "This sign-in is not linked to your account.";
            OnlyWayIn, "only_way_in", "This is the only way to sign in to your account, so it stays.";
            AccountDisabled, "account_disabled", "Your account is disabled. Ask the administrator.";
            AccountWasDisabled, "account_was_disabled", "your account was disabled in the meantime";
            ProxyUserUnknown, "proxy_user_unknown", "No account here belongs to {name}. Ask the administrator.";
            NotOnOwnAccount, "not_on_own_account", "You cannot do this to your own account.";
            GroupNameTaken, "group_name_taken", "another group has this name";
            MemberIsMapped, "member_is_mapped",
                "The account is a member by a mapping. Remove the mapping, or remove the account from the group at its \
                sign-in service.";
            NoSuchAccount, "no_such_account", "there is no account {name}";
            NoSuchGroup, "no_such_group", "there is no group {name}";
            ServerForOwner, "server_for_owner", "“{name}” is shared; only the owner of this server can restart it";
            NotOnOwner, "not_on_owner", "The account of the owner cannot be changed here.";
            SignInNeedsSecureAddress, "sign_in_needs_secure_address",
                "Signing in from another machine needs HTTPS. Ask the administrator to set TURNLEAF_PUBLIC_URL.";
        }
    };
}
