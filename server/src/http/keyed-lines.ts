const rowsPerRead = 500

/**
 * Yields rows as lines of JSON, one read after the other: no connection is held between them, and a row that is added
 * meanwhile is read or not. `read` returns the rows behind an id, in the order of their ids.
 */
export async function* readByKey(
  read: (after: string, limit: number) => Promise<readonly { id: string }[]>,
): AsyncGenerator<string> {
  let after = ''
  for (;;) {
    const rows = await read(after, rowsPerRead)
    const last = rows.at(-1)
    if (!last) return
    yield rows.map((row) => `${JSON.stringify(row)}\n`).join('')
    if (rows.length < rowsPerRead) return
    after = last.id
  }
}
