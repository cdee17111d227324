//! Reorders the functions of the module for compression. A module has many near copies (a generic library function
//! for each type), and compression encodes recent matches in fewer bits. Each function therefore follows those most
//! similar to it, and identical functions are merged. Behavior does not change: a function's address is its place in
//! the table, which stays the same.

use std::collections::HashMap;
use std::convert::Infallible;

use anyhow::{Result, anyhow};
use wasm_encoder::reencode::{Error, Reencode};
use wasm_encoder::{CodeSection, FunctionSection, Module};
use wasmparser::{
    CodeSectionReader, CustomSectionReader, FunctionBody, FunctionSectionReader, Parser, Payload, TypeRef,
};

/// The length of a code shingle in bytes.
const PIECE: usize = 5;
/// The factor by which similarity to an earlier function counts less, for each function in between.
const FADING: f32 = 0.5;
/// The most functions that a shingle may occur in and still be significant.
const COMMON_PIECE: usize = 1000;
/// The number of unique shingles added to each function, so that small functions are not similar to everything.
const OWN_PIECES: f32 = 20.0;

/// Reorders and deduplicates the functions of a module.
///
/// # Errors
/// The input is not a wasm module.
pub fn reorder_functions(module: &[u8]) -> Result<Vec<u8>> {
    let functions = Functions::read(module)?;
    let (mut numbers, codes) = functions.without_copies().map_err(damaged)?;
    let kept: Vec<u32> = (0..).zip(&numbers.to).filter(|(own, number)| own == *number).map(|(own, _)| own).collect();
    let order = similarity_order(&kept.iter().map(|&kept| code_shingles(&codes[kept as usize])).collect::<Vec<_>>());
    numbers.order = order.into_iter().map(|at| kept[at]).collect();
    let places: HashMap<u32, u32> = numbers.order.iter().copied().zip(0..).collect();
    for number in &mut numbers.to {
        *number = places[number];
    }
    let mut ordered = Module::new();
    numbers.parse_core_module(&mut ordered, Parser::new(0), module).map_err(damaged)?;
    Ok(ordered.finish())
}

fn damaged(error: Error) -> anyhow::Error {
    anyhow!("the wasm module cannot be read: {error}")
}

/// The functions that a module defines, in their original order.
struct Functions<'m> {
    /// The number of imported functions, which have the first indices.
    imported: u32,
    types: Vec<u32>,
    bodies: Vec<FunctionBody<'m>>,
}

impl<'m> Functions<'m> {
    fn read(module: &'m [u8]) -> Result<Self> {
        let mut functions = Self { imported: 0, types: Vec::new(), bodies: Vec::new() };
        for part in Parser::new(0).parse_all(module) {
            match part? {
                Payload::ImportSection(section) => {
                    for import in section.into_imports() {
                        functions.imported += u32::from(matches!(import?.ty, TypeRef::Func(_)));
                    }
                }
                Payload::FunctionSection(section) => functions.types = section.into_iter().collect::<Result<_, _>>()?,
                Payload::CodeSectionEntry(body) => functions.bodies.push(body),
                _ => {}
            }
        }
        Ok(functions)
    }

    /// Maps each function to the one that it is a copy of, or to itself, and returns the resulting code. Functions
    /// may become equal because their callees are, so this repeats until nothing changes.
    fn without_copies(&self) -> Result<(FunctionRenumbering, Vec<Vec<u8>>), Error> {
        let to = (0..self.bodies.len() as u32).collect();
        let mut numbers = FunctionRenumbering { imported: self.imported, to, order: Vec::new() };
        loop {
            let codes = self.bodies.iter().map(|body| numbers.code(body)).collect::<Result<Vec<_>, _>>()?;
            let mut first = HashMap::new();
            let copied = self.types.iter().zip(&codes).zip(0..);
            let to: Vec<u32> = copied.map(|(same, own)| *first.entry(same).or_insert(own)).collect();
            if to == numbers.to {
                return Ok((numbers, codes));
            }
            numbers.to = to;
        }
    }
}

/// Rewrites a module with new function numbers.
struct FunctionRenumbering {
    imported: u32,
    /// The new number of each defined function, without imports.
    to: Vec<u32>,
    /// The old numbers of the functions that are written, in their new order.
    order: Vec<u32>,
}

impl FunctionRenumbering {
    /// Returns a function's code with the new numbers in its calls.
    fn code(&mut self, body: &FunctionBody<'_>) -> Result<Vec<u8>, Error> {
        let mut code = self.new_function_with_parsed_locals(body)?;
        let mut reader = body.get_operators_reader()?;
        while !reader.eof() {
            code.instruction(&self.parse_instruction(&mut reader)?);
        }
        Ok(code.into_raw_body())
    }
}

impl Reencode for FunctionRenumbering {
    type Error = Infallible;

    fn function_index(&mut self, function: u32) -> Result<u32, Error> {
        let defined = function.checked_sub(self.imported).and_then(|own| self.to.get(own as usize));
        Ok(defined.map_or(function, |number| self.imported + number))
    }

    fn parse_function_section(
        &mut self,
        types: &mut FunctionSection,
        section: FunctionSectionReader<'_>,
    ) -> Result<(), Error> {
        let old = section.into_iter().collect::<Result<Vec<u32>, _>>()?;
        for own in &self.order {
            types.function(old[*own as usize]);
        }
        Ok(())
    }

    /// Drops custom sections: names and producers are not needed in a browser.
    fn parse_custom_section(&mut self, _: &mut Module, _: CustomSectionReader<'_>) -> Result<(), Error> {
        Ok(())
    }

    fn parse_code_section(&mut self, code: &mut CodeSection, section: CodeSectionReader<'_>) -> Result<(), Error> {
        let old = section.into_iter().collect::<Result<Vec<FunctionBody<'_>>, _>>()?;
        for own in self.order.clone() {
            self.parse_function_body(code, old[own as usize].clone())?;
        }
        Ok(())
    }
}

/// Returns the shingles of a function, each once, as numbers.
fn code_shingles(code: &[u8]) -> Vec<u64> {
    let number = |piece: &[u8]| piece.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
    let mut pieces: Vec<u64> = code.windows(PIECE.min(code.len())).map(number).collect();
    pieces.sort_unstable();
    pieces.dedup();
    pieces
}

/// Orders functions so that each follows those most similar to it for its size, with most weight on the one directly
/// before. The largest function is first, and next whenever nothing is similar.
fn similarity_order(functions: &[Vec<u64>]) -> Vec<usize> {
    let mut having: HashMap<u64, Vec<u32>> = HashMap::new();
    for (own, pieces) in (0..).zip(functions) {
        for piece in pieces {
            having.entry(*piece).or_default().push(own);
        }
    }
    having.retain(|_, functions| functions.len() <= COMMON_PIECE);
    let mut left: Vec<usize> = (0..functions.len()).collect();
    left.sort_by_key(|&own| functions[own].len());
    let mut common = vec![0.0_f32; functions.len()];
    let mut order = Vec::new();
    let mut next = left.pop();
    while let Some(own) = next {
        order.push(own);
        for others in functions[own].iter().filter_map(|piece| having.get(piece)) {
            for other in others {
                common[*other as usize] += 1.0;
            }
        }
        let mut best = None;
        let mut most = 0.0;
        for (at, other) in left.iter().enumerate() {
            let likeness = common[*other] / (functions[*other].len() as f32 + OWN_PIECES);
            common[*other] *= FADING;
            if likeness >= most {
                (best, most) = (Some(at), likeness);
            }
        }
        next = best.map(|at| left.remove(at));
    }
    order
}

#[cfg(test)]
mod tests {
    use wasm_encoder::{
        ConstExpr, ElementSection, Elements, ExportKind, ExportSection, Function, Ieee64, ImportSection, RefType,
        TableSection, TableType, TypeSection, ValType,
    };
    use wasmparser::{ElementItems, Operator, Validator};

    use super::*;

    /// Builds a module of test functions: `(numbers, calls)` adds its numbers and calls the functions, with one
    /// import before all. Each function is exported under its place and is in the table.
    fn module(functions: &[(&[u64], &[u32])]) -> Vec<u8> {
        let mut types = TypeSection::new();
        types.ty().function([], [ValType::F64]);
        let mut imports = ImportSection::new();
        imports.import("js", "now", wasm_encoder::EntityType::Function(0));
        let mut declared = FunctionSection::new();
        let mut exports = ExportSection::new();
        let mut code = CodeSection::new();
        for (own, (numbers, calls)) in (1..).zip(functions) {
            declared.function(0);
            exports.export(&format!("f{own}"), ExportKind::Func, own);
            let mut function = Function::new([]);
            let mut body = function.instructions();
            body.f64_const(Ieee64::from(0.0));
            for number in *numbers {
                body.f64_const(Ieee64::new(*number)).f64_add();
            }
            for called in *calls {
                body.call(*called).f64_add();
            }
            body.end();
            code.function(&function);
        }
        let all: Vec<u32> = (0..=functions.len() as u32).collect();
        let mut tables = TableSection::new();
        let size = all.len() as u64;
        let element_type = RefType::FUNCREF;
        tables.table(TableType { element_type, minimum: size, maximum: Some(size), table64: false, shared: false });
        let mut elements = ElementSection::new();
        elements.active(None, &ConstExpr::i32_const(0), Elements::Functions(all.into()));
        let mut module = Module::new();
        module.section(&types).section(&imports).section(&declared).section(&tables).section(&exports);
        module.section(&elements).section(&code);
        module.finish()
    }

    /// Describes the behavior of a module: the instructions of each export with calls expanded (`depth` deep), the
    /// same for the table, and the number of functions.
    fn behaviour(module: &[u8]) -> (Vec<(String, String)>, Vec<String>, usize) {
        Validator::new().validate_all(module).unwrap();
        let functions = Functions::read(module).unwrap();
        let (mut exports, mut table) = (Vec::new(), Vec::new());
        for part in Parser::new(0).parse_all(module) {
            match part.unwrap() {
                Payload::ExportSection(section) => {
                    for export in section {
                        let export = export.unwrap();
                        exports.push((export.name.to_owned(), encode_function(&functions, export.index)));
                    }
                }
                Payload::ElementSection(section) => {
                    for element in section {
                        let ElementItems::Functions(items) = element.unwrap().items else { panic!("no functions") };
                        table.extend(items.into_iter().map(|item| encode_function(&functions, item.unwrap())));
                    }
                }
                _ => {}
            }
        }
        (exports, table, functions.bodies.len())
    }

    fn encode_function(functions: &Functions<'_>, function: u32) -> String {
        let Some(own) = function.checked_sub(functions.imported) else { return format!("import {function}") };
        let operators = functions.bodies[own as usize].get_operators_reader().unwrap();
        let encoded = operators.into_iter().map(|operator| match operator.unwrap() {
            Operator::Call { function_index } => format!("call ({})", encode_function(functions, function_index)),
            other => format!("{other:?}"),
        });
        encoded.collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn exports_calls_and_tables_are_preserved() {
        let before = module(&[(&[1, 2], &[0, 3]), (&[9], &[]), (&[5, 6], &[2]), (&[1, 2], &[0, 3])]);
        let after = reorder_functions(&before).unwrap();
        let (exports, table, count) = behaviour(&before);
        assert_eq!(behaviour(&after), (exports, table, count - 1));
    }

    #[test]
    fn functions_differing_only_in_called_copies_are_merged() {
        let after = reorder_functions(&module(&[(&[7], &[]), (&[7], &[]), (&[8], &[1]), (&[8], &[2])])).unwrap();
        assert_eq!(behaviour(&after).2, 2);
    }

    #[test]
    fn similar_functions_are_adjacent() {
        let (one, other): (Vec<u64>, Vec<u64>) = ((1000..1020).collect(), (2000..2020).collect());
        let ordered =
            reorder_functions(&module(&[(&one, &[]), (&other, &[]), (&one[1..], &[]), (&other[1..], &[])])).unwrap();
        let number = 1010_u64.to_le_bytes();
        let bodies = Functions::read(&ordered).unwrap().bodies;
        let of_one = bodies.iter().map(|body| body.as_bytes().windows(8).any(|bytes| bytes == number));
        let of_one: Vec<bool> = of_one.collect();
        assert!(of_one == [true, true, false, false] || of_one == [false, false, true, true], "{of_one:?}");
    }

    #[test]
    fn invalid_module_is_refused() {
        assert!(reorder_functions(b"\0asm\x01\0\0\0\x0a\x05").is_err());
        assert!(reorder_functions(b"").is_err());
    }
}
