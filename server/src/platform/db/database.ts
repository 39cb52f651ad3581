import {
  Kysely,
  PostgresDialect,
  PostgresDriver,
  sql,
  type PostgresDialectConfig,
  type TransactionSettings,
} from 'kysely'
import { Client, Pool, types, type ClientConfig } from 'pg'
import { enableCopy } from './copy-rows'
import { DatabaseLiveness } from './liveness'
import type { Schema } from './schema'
import { currentChange } from './background-work'

const int8 = 20

/** The address of a PostgreSQL server, as the `pg` package takes it. */
export type DatabaseAddress = ClientConfig

/** bigint columns are read as `bigint`: a JavaScript number would lose nano-dollars above 9 million USD. */
const parsers = {
  getTypeParser(id: number, format?: 'text' | 'binary') {
    if (id === int8) return BigInt
    return format === 'binary' ? types.getTypeParser(id, 'binary') : types.getTypeParser(id, 'text')
  },
}

/** The time that a transaction may be idle, in timeouts of a statement. */
const idleStatements = 2

type Connection = Parameters<PostgresDriver['rollbackTransaction']>[0]

/**
 * Rolls back a `begin` that timed out: a frozen server may still execute it, and later statements on its connection
 * would run in that transaction, which is never committed.
 */
class Driver extends PostgresDriver {
  override async beginTransaction(
    connection: Connection,
    settings: TransactionSettings,
  ): Promise<void> {
    try {
      await super.beginTransaction(connection, settings)
    } catch (thrown) {
      // If the rollback fails as well, the connection is discarded.
      await this.rollbackTransaction(connection).catch(() => undefined)
      throw thrown
    }
  }

  /** Writes the audit row of a change into the transaction of the change, whichever code began the transaction. */
  override async commitTransaction(connection: Connection): Promise<void> {
    const change = currentChange.getStore()
    const isWritten = await change?.writeOn(connection)
    await super.commitTransaction(connection)
    if (change && isWritten) change.isOnRecord = true
  }
}

class Dialect extends PostgresDialect {
  readonly #config: PostgresDialectConfig

  constructor(config: PostgresDialectConfig) {
    super(config)
    this.#config = config
  }

  override createDriver(): Driver {
    return new Driver(this.#config)
  }
}

/**
 * Creates a query builder of one connection, opened by its first statement. A statement of the pool may wait for a connection
 * while all of them wait for locks and commits, which would look like a database that is gone.
 */
function createOwnConnection(
  address: DatabaseAddress,
  liveness: DatabaseLiveness,
  onError: (error: Error) => void,
) {
  const pool = new Pool({ ...address, max: 1, idleTimeoutMillis: 0 })
  followRoundTrip(pool.options, liveness)
  pool.on('error', onError)
  pool.on('connect', (client) => client.on('error', () => undefined))
  return new Kysely<Schema>({ dialect: new Dialect({ pool }) })
}

interface Options {
  poolSize: number
  statementMs?: number
  onError: (error: Error) => void
  /** Measures the round trip, which the wait for a connection follows; without it, this database's own. */
  liveness?: DatabaseLiveness
}

/** Has each wait for a connection, and each new connection, last as long as the round trip of that moment suggests. */
function followRoundTrip(options: Pool['options'], liveness: DatabaseLiveness): void {
  Object.defineProperty(options, 'connectionTimeoutMillis', {
    enumerable: true,
    get: () => Math.ceil(liveness.maxConnectMs),
  })
}

/**
 * The connection pool, and the query builder over it. Every statement has a timeout on the server and another one
 * here, as a frozen server enforces none.
 */
export class Database implements AsyncDisposable {
  readonly query: Kysely<Schema>
  readonly liveness = new DatabaseLiveness({ ping: () => ping(this.#own) })
  /** The connection of liveness. */
  readonly #own: Kysely<Schema>
  readonly #address: DatabaseAddress
  readonly #pool: Pool
  #isClosing = false

  constructor(address: DatabaseAddress, options: Options) {
    this.#address = {
      ...address,
      types: parsers,
      keepAlive: true,
      application_name: 'tollgate',
    }
    const { statementMs = 5000 } = options
    const timeouts = { statement_timeout: statementMs, query_timeout: statementMs + 1000 }
    // The pool's end does not wait for its sockets, which a stopping server may close too.
    const onError = (error: Error) => {
      if (!this.#isClosing) options.onError(error)
    }
    const pool = new Pool({
      ...this.#address,
      ...timeouts,
      max: options.poolSize,
      // A node that vanishes would keep its rows locked until the server's kernel notices, two hours later by default.
      idle_in_transaction_session_timeout: idleStatements * statementMs,
      idleTimeoutMillis: 30_000,
    })
    // An idle connection that breaks is replaced; without a listener the error would end the process.
    pool.on('error', onError)
    // The same for a connection in use: its statement rejects, and between two statements no listener is attached.
    pool.on('connect', (client) => {
      client.on('error', () => undefined)
      enableCopy(client)
    })
    followRoundTrip(pool.options, options.liveness ?? this.liveness)
    this.#pool = pool
    this.query = new Kysely<Schema>({ dialect: new Dialect({ pool }) })
    this.#own = createOwnConnection({ ...this.#address, ...timeouts }, this.liveness, onError)
  }

  /** The pool's connections, and the number of statements that wait for one. */
  get connections(): { total: number; idle: number; waiting: number; max: number } {
    const { totalCount: total, idleCount: idle, waitingCount: waiting, options } = this.#pool
    return { total, idle, waiting, max: options.max }
  }

  /** Creates a connection outside the pool, not yet connected; for LISTEN and for COPY. */
  client(queryMs = 3000): Client {
    const connectionTimeoutMillis = Math.ceil(this.liveness.maxConnectMs)
    return new Client({ ...this.#address, connectionTimeoutMillis, query_timeout: queryMs })
  }

  /** Opens a pool of its own to the same database, for statements that must not wait behind others. */
  secondPool(options: Options): Database {
    return new Database(this.#address, { liveness: this.liveness, ...options })
  }

  /** Resolves when the database answers and accepts writes, else rejects: a standby does not accept them. */
  ping(): Promise<void> {
    return ping(this.query)
  }

  /** As `ping`, on the connection of liveness: the pool may be busy while the database answers. */
  probe(): Promise<void> {
    return ping(this.#own)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true
    await Promise.all([this.query.destroy(), this.#own.destroy()])
  }
}

async function ping(query: Kysely<Schema>): Promise<void> {
  const { rows } = await sql<{ read_only: boolean }>`
    select current_setting('transaction_read_only')::boolean as read_only`.execute(query)
  if (rows[0]?.read_only !== false) throw new Error('the database is read-only')
}
