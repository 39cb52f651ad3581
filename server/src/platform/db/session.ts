import { Kysely, PostgresDialect } from 'kysely'
import type { Client } from 'pg'
import type { Database } from './database'
import type { Schema } from './schema'

/** One connection for statements that belong together: COPY, a snapshot, a manual transaction. */
export interface Session extends AsyncDisposable {
  client: Client
  /** The query builder over that connection. */
  query: Kysely<Schema>
}

/** Opens a session with a timeout of `statementMs` for each statement. Rejects if the database does not answer. */
export async function openSession(database: Database, statementMs: number): Promise<Session> {
  // COPY has a timeout of its own, which restarts with each piece.
  const client = database.client(0)
  // The failure shows in the statement.
  client.on('error', () => undefined)
  await client.connect()
  await client.query(`set statement_timeout = ${statementMs}`)
  const leased = { query: client.query.bind(client), release: () => undefined }
  const pool = {
    connect: async () => leased,
    end: async () => undefined,
    options: {},
  }
  return {
    client,
    query: new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) }),
    [Symbol.asyncDispose]: () => client.end(),
  }
}
