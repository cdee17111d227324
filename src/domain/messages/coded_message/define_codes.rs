//! The macro that defines the codes of sentences.

/// Defines the codes, one a line: the variant, the code, the English template.
macro_rules! define_codes {
    ($($name:ident, $code:literal, $template:expr;)*) => {
        /// The code of a sentence.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum MessageCode {
            $($name,)*
            /// A parameter of the turn is not one that the model accepts.
            Param(DropReason),
        }

        impl MessageCode {
            /// All codes except those of parameters.
            pub const OWN: &[Self] = &[$(Self::$name,)*];

            /// Returns the code, for programs.
            pub fn code(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)*
                    Self::Param(reason) => reason.code(),
                }
            }

            /// Returns the template of the English text.
            pub fn template(self) -> &'static str {
                match self {
                    $(Self::$name => $template,)*
                    Self::Param(reason) => reason.template(),
                }
            }
        }
    };
}
