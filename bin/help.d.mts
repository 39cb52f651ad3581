/** The text of `tollgate --help`. */
export function helpFor(program: 'sources' | 'executable'): string
