import { sql, type RawBuilder } from 'kysely'

/**
 * A function of SQL with a row for each of some texts in JSON. The list is closed there: thousands of rows are a
 * megabyte, which would be copied once more here.
 */
export const elementsOf = (texts: readonly string[]): RawBuilder<unknown> =>
  sql`jsonb_array_elements(concat('[', ${texts.join(',')}::text, ']')::jsonb)`
