import { readFileSync } from 'node:fs'

/** Returns the text of a file; undefined where it cannot be read. */
export function tryReadFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
