//! The languages that the scanner knows, with their lookup.

use super::{Language, LanguageKind};

const SLASHES: &[&str] = &["//"];
const HASH: &[&str] = &["#"];
const STARS: &[(&str, &str)] = &[("/*", "*/")];
const BOTH: &[&str] = &["\"", "'"];
const C_TYPES: &str = "int long short char float double void bool unsigned signed size_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t";
const TRUTH: &str = "true false null";

/// Defaults of most languages with braces.
const BRACES: Language = Language {
    names: "",
    kind: LanguageKind::Code,
    line_comments: SLASHES,
    block_comments: STARS,
    quotes: BOTH,
    keywords: "",
    constants: TRUTH,
    types: "",
    traits: Language::CAPITAL_TYPES,
};

/// Defaults of most scripting languages with hash comments.
const SCRIPT: Language = Language { line_comments: HASH, block_comments: &[], ..BRACES };

/// All known languages.
const LANGUAGES: &[Language] = &[
    Language {
        names: "rust rs",
        keywords: "as async await break const continue crate dyn else enum extern fn for if impl in let loop match mod move mut pub ref return static struct super trait type union unsafe use where while yield",
        constants: "true false self Self None Some Ok Err",
        types: "u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 bool char str",
        traits: Language::CAPITAL_TYPES
            | Language::HASH_ATTRIBUTES
            | Language::LIFETIMES
            | Language::PREFIXES
            | Language::MACROS
            | Language::LONG_STRINGS,
        ..BRACES
    },
    Language {
        names: "python py python3 py3 pyi sage",
        quotes: &["\"\"\"", "'''", "\"", "'"],
        keywords: "and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return try while with yield",
        constants: "True False None self cls",
        types: "int float str bool bytes list dict set tuple object type complex",
        traits: Language::CAPITAL_TYPES | Language::AT_ATTRIBUTES | Language::PREFIXES,
        ..SCRIPT
    },
    Language {
        names: "javascript js mjs cjs jsx node typescript ts mts cts tsx javascriptreact typescriptreact",
        quotes: &["\"", "'", "`"],
        keywords: "abstract as async await break case catch class const continue debugger declare default delete do else enum export extends finally for from function get if implements import in infer instanceof interface is keyof let namespace new of private protected public readonly return satisfies set static switch throw try type typeof var void while with yield",
        constants: "true false null undefined NaN Infinity this super",
        types: "string number boolean any unknown never object bigint symbol",
        traits: Language::CAPITAL_TYPES | Language::AT_ATTRIBUTES,
        ..BRACES
    },
    Language { names: "json jsonc json5 jsonl ndjson", traits: 0, ..BRACES },
    Language {
        names: "bash sh shell zsh ksh console terminal shell-session shellsession shellscript",
        quotes: BOTH,
        keywords: "if then elif else fi for while until do done case esac in function select time local export readonly declare typeset return break continue exit set unset source alias trap shift",
        constants: "true false",
        traits: Language::SIGILS | Language::HYPHENS | Language::LONG_STRINGS,
        ..SCRIPT
    },
    Language {
        names: "c h cpp c++ cc cxx hpp arduino objc objective-c objectivec m cuda glsl hlsl",
        keywords: "alignas alignof asm auto break case catch class co_await co_return co_yield concept const consteval constexpr const_cast continue default delete do dynamic_cast else enum explicit export extern final for friend goto if inline namespace new noexcept operator override private protected public register reinterpret_cast requires return sizeof static static_assert static_cast struct switch template throw try typedef typeid typename union using virtual volatile while",
        constants: "true false NULL nullptr this YES NO nil self",
        types: C_TYPES,
        traits: Language::CAPITAL_TYPES | Language::DIRECTIVES | Language::PREFIXES,
        ..BRACES
    },
    Language {
        names: "java",
        quotes: &["\"\"\"", "\"", "'"],
        keywords: "abstract assert break case catch class const continue default do else enum extends final finally for goto if implements import instanceof interface native new package permits private protected public record return sealed static strictfp super switch synchronized throw throws transient try var volatile while yield",
        constants: "true false null this",
        types: "int long short byte char float double boolean void",
        traits: Language::CAPITAL_TYPES | Language::AT_ATTRIBUTES,
        ..BRACES
    },
    Language {
        names: "csharp c# cs",
        keywords: "abstract add as async await base break case catch checked class const continue default delegate do else enum event explicit extern finally fixed for foreach from get global goto if implicit in init interface internal is let lock namespace new operator orderby out override params partial private protected public readonly record ref remove required return sealed select set sizeof stackalloc static struct switch throw try typeof unchecked unsafe using value var virtual volatile when where while with yield",
        constants: "true false null this",
        types: "int long short byte sbyte uint ulong ushort char float double decimal bool string object void dynamic nint nuint",
        traits: Language::CAPITAL_TYPES | Language::DIRECTIVES | Language::PREFIXES,
        ..BRACES
    },
    Language {
        names: "go golang",
        quotes: &["\"", "'", "`"],
        keywords: "break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var",
        constants: "true false nil iota",
        types: "bool byte complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint uint8 uint16 uint32 uint64 uintptr any",
        ..BRACES
    },
    Language {
        names: "kotlin kt kts",
        quotes: &["\"\"\"", "\"", "'"],
        keywords: "abstract actual annotation as break by catch class companion const constructor continue crossinline data do else enum expect external final finally for fun get if import in infix init inline inner interface internal is lateinit noinline object open operator out override package private protected public reified return sealed set super suspend tailrec throw try typealias val var vararg when where while",
        constants: "true false null this it",
        traits: Language::CAPITAL_TYPES | Language::AT_ATTRIBUTES,
        ..BRACES
    },
    Language {
        names: "swift",
        quotes: &["\"\"\"", "\""],
        keywords: "actor as associatedtype async await break case catch class continue convenience default defer deinit didSet do else enum extension fallthrough fileprivate final for func get guard if import in indirect init inout internal is lazy let mutating nonisolated open operator override private protocol public repeat required rethrows return set some static struct subscript super switch throw throws try typealias unowned var weak where while willSet",
        constants: "true false nil self Self",
        traits: Language::CAPITAL_TYPES | Language::AT_ATTRIBUTES | Language::DIRECTIVES,
        ..BRACES
    },
    Language {
        names: "dart scala groovy gradle solidity sol zig v verilog",
        quotes: &["\"\"\"", "'''", "\"", "'"],
        keywords: "abstract as assert async await break case catch class comptime const continue contract covariant def default defer deferred do dynamic else enum errdefer error event export extends extension external factory final finally fn for function given if implements implicit import in interface is late lazy library mapping match mixin modifier new object on operator orelse override package part payable pragma private protected pub public required rethrow return returns sealed set show static struct super switch sync test then this throw trait try type typedef union usingnamespace val var view void volatile while with yield",
        constants: "true false null undefined",
        types: "int double num bool String address uint256 u8 u16 u32 u64 usize i8 i16 i32 i64 f32 f64 bytes",
        traits: Language::CAPITAL_TYPES | Language::AT_ATTRIBUTES,
        ..BRACES
    },
    Language {
        names: "php",
        line_comments: &["//", "#"],
        keywords: "abstract and array as break callable case catch class clone const continue declare default do echo else elseif empty enum extends final finally fn for foreach function global goto if implements include include_once instanceof insteadof interface isset list match namespace new or print private protected public readonly require require_once return static switch throw trait try unset use var while xor yield php",
        constants: "true false null TRUE FALSE NULL",
        types: "int float string bool void mixed object iterable",
        traits: Language::CAPITAL_TYPES | Language::SIGILS | Language::HASH_ATTRIBUTES | Language::LONG_STRINGS,
        ..BRACES
    },
    Language {
        names: "ruby rb rake gemfile crystal",
        keywords: "alias and attr_accessor attr_reader attr_writer begin break case class def do else elsif end ensure extend for if in include module next not or private protected public raise redo require require_relative rescue retry return super then undef unless until when while yield",
        constants: "true false nil self",
        traits: Language::CAPITAL_TYPES | Language::SIGILS,
        ..SCRIPT
    },
    Language {
        names: "perl pl r julia jl elixir ex exs nim coffeescript coffee tcl awk",
        quotes: &["\"\"\"", "\"", "'"],
        keywords: "after alias and begin break case catch cond continue def defmodule defp defstruct do else elseif elsif elif end export fn finally for foreach function global if import in is last let local macro match module mutable my next not of or our package proc quote receive repeat require rescue return struct sub switch then throw try type unless until use using var when where while with yield library",
        constants: "true false nil TRUE FALSE NULL NA NaN Inf nothing undef",
        traits: Language::CAPITAL_TYPES | Language::SIGILS,
        ..SCRIPT
    },
    Language {
        names: "lua",
        line_comments: &["--"],
        block_comments: &[("--[[", "]]")],
        keywords: "and break do else elseif end for function goto if in local not or repeat return then until while",
        constants: "true false nil self",
        ..SCRIPT
    },
    Language {
        names: "haskell hs elm purescript ocaml ml fsharp f# fs",
        line_comments: &["--", "//"],
        block_comments: &[("{-", "-}"), ("(*", "*)")],
        quotes: &["\""],
        keywords: "and as begin case class data deriving do done downto else end exception external for forall foreign fun function functor hiding if import in include infix infixl infixr inherit instance lazy let match member method module mutable namespace new newtype object of open or port private qualified rec return sig struct then to try type use val virtual when where while with yield",
        constants: "true false True False None Some Just Nothing Ok Error",
        types: "int float string bool char unit list option",
        ..SCRIPT
    },
    Language {
        names: "clojure clj cljs edn lisp scheme racket elisp emacs-lisp",
        line_comments: &[";"],
        quotes: &["\""],
        keywords: "def defn defmacro defun defvar define lambda fn let let* letrec if cond case when unless do loop recur quote set! begin and or not require ns import use",
        constants: "true false nil t",
        traits: Language::HYPHENS | Language::LONG_STRINGS,
        ..SCRIPT
    },
    Language {
        names: "sql mysql postgresql postgres pgsql sqlite plsql tsql",
        line_comments: &["--"],
        keywords: "add all alter analyze and any as asc autoincrement begin between by cascade case cast check column commit constraint create cross current database default delete desc distinct do drop else end except exists explain fetch filter for foreign from full function grant group having if ilike in index inner insert intersect into is join key lateral left like limit materialized natural not nothing of offset on or order outer over partition primary references recursive replace returning revoke right rollback row rows schema select set table temporary then to transaction trigger truncate union unique update using values view when where window with",
        constants: "true false null",
        types: "int integer bigint smallint serial bigserial text varchar char boolean bool real float double decimal numeric date time timestamp timestamptz interval json jsonb uuid blob bytea",
        traits: Language::ANY_CASE | Language::LONG_STRINGS,
        ..BRACES
    },
    Language {
        names: "css scss sass less",
        keywords: "important",
        constants: "inherit initial unset revert none auto",
        traits: Language::AT_ATTRIBUTES | Language::HASHES | Language::HYPHENS | Language::COLON_KEYS,
        ..BRACES
    },
    Language {
        names: "yaml yml",
        constants: "true false null yes no on off",
        traits: Language::COLON_KEYS | Language::HYPHENS | Language::SIGILS,
        ..SCRIPT
    },
    Language {
        names: "toml ini cfg conf properties env dotenv editorconfig systemd gitconfig",
        line_comments: &["#", ";"],
        quotes: &["\"\"\"", "'''", "\"", "'"],
        constants: "true false",
        traits: Language::EQUAL_KEYS | Language::HYPHENS | Language::SECTIONS,
        ..SCRIPT
    },
    Language {
        names: "hcl terraform tf nix nginx caddyfile",
        line_comments: &["#", "//"],
        block_comments: STARS,
        keywords: "resource data variable output locals module provider terraform for in if else let with rec inherit import assert then server location upstream listen return proxy_pass root",
        constants: "true false null",
        traits: Language::EQUAL_KEYS | Language::HYPHENS | Language::SIGILS,
        ..SCRIPT
    },
    Language {
        names: "dockerfile docker containerfile",
        keywords: "FROM AS RUN CMD LABEL EXPOSE ENV ADD COPY ENTRYPOINT VOLUME USER WORKDIR ARG ONBUILD STOPSIGNAL HEALTHCHECK SHELL MAINTAINER",
        traits: Language::SIGILS | Language::HYPHENS,
        ..SCRIPT
    },
    Language {
        names: "makefile make mk cmake just justfile",
        keywords: "ifeq ifneq ifdef ifndef else endif include define endef export override vpath if elseif foreach endforeach function endfunction macro endmacro set project add_executable add_library target_link_libraries find_package",
        traits: Language::SIGILS | Language::HYPHENS | Language::COLON_KEYS,
        ..SCRIPT
    },
    Language {
        names: "powershell ps1 pwsh",
        block_comments: &[("<#", "#>")],
        keywords: "begin break catch class continue data do dynamicparam else elseif end enum exit filter finally for foreach from function if in param process return switch throw trap try until using while",
        traits: Language::SIGILS | Language::HYPHENS | Language::ANY_CASE | Language::LONG_STRINGS,
        ..SCRIPT
    },
    Language {
        names: "graphql gql proto protobuf prisma thrift",
        line_comments: &["#", "//"],
        quotes: &["\"\"\"", "\"", "'"],
        keywords: "directive enum extend extends fragment implements import input interface map message model mutation on oneof option optional package query repeated reserved returns rpc scalar schema service subscription syntax type union",
        types: "Int Float String Boolean ID double float int32 int64 uint32 uint64 bool string bytes",
        traits: Language::CAPITAL_TYPES | Language::AT_ATTRIBUTES,
        ..BRACES
    },
    Language { names: "html htm xhtml xml svg vue svelte astro rss plist jsp", kind: LanguageKind::Markup, ..BRACES },
    Language { names: "diff patch", kind: LanguageKind::Diff, ..BRACES },
];

/// Returns the language with this name.
pub fn find_language(name: &str) -> Option<&'static Language> {
    let name = name.to_lowercase();
    LANGUAGES.iter().find(|language| language.names.split(' ').any(|known| known == name))
}
