import { CompiledQuery, type Transaction } from 'kysely'
import { Query, type PoolClient } from 'pg'
import type { Schema } from './schema'

/** The rows of a `COPY … FROM STDIN`, as text in the format that the statement names. */
class CopiedRows {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** The methods of the driver's connection that send rows. */
interface CopyConnection {
  sendCopyFromChunk: (bytes: Buffer) => void
  endCopyFrom: () => void
}

/** A `COPY … FROM STDIN` that sends its rows as soon as the server asks for them. The driver has none itself. */
class CopyQuery extends Query {
  readonly #rows: CopiedRows

  constructor(statement: string, rows: CopiedRows, onEnd: (error: Error | undefined) => void) {
    super(statement, onEnd)
    this.#rows = rows
  }

  handleCopyInResponse(connection: CopyConnection): void {
    connection.sendCopyFromChunk(Buffer.from(this.#rows.text))
    connection.endCopyFrom()
  }
}

/** Inserts rows with a `COPY … FROM STDIN`: all of them, or none and rejects. Rows that exist are an error. */
export async function copyRows(
  trx: Transaction<Schema>,
  statement: string,
  text: string,
): Promise<void> {
  await trx.executeQuery(CompiledQuery.raw(statement, [new CopiedRows(text)]))
}

/** Has a connection of the query builder's pool run the statements of `copyRows`. */
export function enableCopy(client: PoolClient): void {
  const query: unknown = Reflect.get(client, 'query')
  if (typeof query !== 'function') throw new Error('the driver has no method query')
  Object.defineProperty(client, 'query', {
    value: (...rowArguments: unknown[]): unknown => {
      const [statement, parameters] = rowArguments
      const rows: unknown = Array.isArray(parameters) ? parameters[0] : undefined
      if (typeof statement !== 'string' || !(rows instanceof CopiedRows))
        return Reflect.apply(query, client, rowArguments)
      return new Promise((resolve, reject) => {
        const onEnd = (error: Error | undefined) => (error ? reject(error) : resolve({ rows: [] }))
        client.query(new CopyQuery(statement, rows, onEnd))
      })
    },
  })
}
