import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { google } from '../../src/providers/google/index'
import type { Part } from '../../src/wire/answer-part'
import { noUsage, type Usage } from '../../src/wire/usage'
import type { ErrorSource } from '../../src/providers/upstream-error'

export const source: ErrorSource = {
  provider: 'google',
  secret: 'AIza-secret',
  textField: 'messages',
  wasSent: () => false,
  contextLength: null,
  maxOutputTokens: null,
}
export const ours: string = join(import.meta.dir, '../golden/google')
/** Recorded answers, which the project reads where they are and does not hold. */
export const theirs: string = join(import.meta.dir, '../../../../shared/fixtures/upstream')

export const eventsOf = (folder: string, name: string): string[] =>
  readFileSync(join(folder, `${name}.chunks.txt`), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
export const partsOf = (events: readonly string[]): Part[] => events.flatMap(google.reader(source))
export const withoutUsage = (parts: readonly Part[]): Part[] =>
  parts.filter(({ type }) => type !== 'usage')

export const usage = (own: Partial<Usage>): Usage => ({ ...noUsage, ...own })
