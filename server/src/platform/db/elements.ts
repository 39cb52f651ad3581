import { sql, type RawBuilder } from 'kysely'

/**
 * Returns an SQL function that yields a row for each JSON text of a list. The SQL text closes the JSON array:
 * thousands of rows are a megabyte, which would otherwise be copied once more here.
 */
export const elementsOf = (texts: readonly string[]): RawBuilder<unknown> =>
  sql`jsonb_array_elements(concat('[', ${texts.join(',')}::text, ']')::jsonb)`
