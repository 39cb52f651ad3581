import { join } from 'node:path'
import { describe, expect, test } from 'bun:test'
import { adapterOf } from '../../src/providers/adapters'
import { errorTable, refusalRows } from './error-table'
import { providers } from '../../src/providers/registry'
import { sampleSource } from '../providers/samples'
import { toCallerError } from '../../src/providers/upstream-error'

describe('findings P4, P8, P9, C6: a refusal of a service becomes', () => {
  test.each(refusalRows.map((row) => [row.service, row.what, row] as const))(
    '%s: %s',
    (_service, _what, { provider, status, body, error }) => {
      const known = providers.find(({ key }) => key === provider)
      const read = (known && adapterOf(known)?.toError) ?? toCallerError
      const thrown = read({ status, body }, sampleSource)
      expect(thrown).toMatchObject(error)
      expect(`${thrown.message} ${JSON.stringify(thrown.details)}`).not.toMatch(
        /\*\*\*|rate.?limit/i,
      )
    },
  )
})

const page = join(import.meta.dir, '../../../docs/operate/providers.md')
const begin =
  '<!-- The table of errors begins: written by server/testing/conformance/error-table.test.ts -->'
const end = '<!-- The table of errors ends -->'

test('the table of errors in docs/operate/providers.md matches the tests; WRITE_DOCS=1 writes it', async () => {
  const text = await Bun.file(page).text()
  const [before, rest = ''] = text.split(begin)
  const [, after] = rest.split(end)
  const made = `${before}${begin}\n\n${errorTable()}\n\n${end}${after}`
  if (process.env['WRITE_DOCS'] === '1') await Bun.write(page, made)
  else expect(text).toBe(made)
})
