//! The formats of other programs, a reader for each.

pub mod ai_studio;
pub mod anything_llm;
pub mod big_agi;
pub mod chatgpt;
pub mod cherry_studio;
pub mod claude;
pub mod claude_code;
pub mod codex;
pub mod deepseek;
pub mod gemini_cli;
pub mod gemini_takeout;
pub mod grok;
pub mod jan;
pub mod librechat;
pub mod llama_cpp;
pub mod lobehub;
pub mod open_webui;
pub mod openai_messages;
pub mod silly_tavern;
