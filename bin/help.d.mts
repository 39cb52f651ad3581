/** What `tollgate --help` says. */
export function helpFor(program: 'sources' | 'executable'): string
