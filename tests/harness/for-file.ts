import { afterAll, beforeAll } from 'bun:test'

/**
 * Opens something before the tests of the file that calls this, and closes it after them. Returns how it
 * is come by, from the first test on.
 */
export function forFile<Open>(
  open: () => Promise<Open>,
  close: (opened: Open) => Promise<void>,
): () => Open {
  let opened: { value: Open } | undefined
  beforeAll(async () => {
    opened = { value: await open() }
  })
  afterAll(async () => {
    if (opened) await close(opened.value)
  })
  return () => {
    if (!opened) throw new Error('this is there from the first test on')
    return opened.value
  }
}
