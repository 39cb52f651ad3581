import { join } from 'node:path'

/** The timeout, for a slow machine that makes the first database. */
const limitMs = 120_000

let serving: Promise<string> | undefined

/**
 * Makes a migrated database in a PostgreSQL that all tests share: in seconds where no other test did so before, else
 * in a moment. Returns a value for `DATABASE_URL`, of an ordinary role that owns the database, as every role of a hosted
 * PostgreSQL is.
 */
export async function newDatabase(): Promise<string> {
  return send({ unix: await socket(), method: 'POST' })
}

/** Returns the URL of the same database for what only a superuser may do. */
export async function adminUrlOf(url: string): Promise<string> {
  const admin = new URL(await send({ unix: await socket(), method: 'GET' }))
  return Object.assign(admin, { pathname: new URL(url).pathname }).href
}

/** Drops a database in spite of its connections; all are dropped at the end. */
export async function dropDatabase(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1)
  await send({ unix: await socket(), method: 'DELETE', body: name })
}

/**
 * Puts the cluster of an embedded PostgreSQL into a data directory, as a first start leaves it that is stopped:
 * the next one is done sooner.
 */
export async function putEmbedded(dataDir: string): Promise<void> {
  await send({ unix: await socket(), method: 'PUT', body: dataDir })
}

function socket(): Promise<string> {
  const configured = process.env['TEST_DATABASES']
  return configured ? Promise.resolve(configured) : (serving ??= startServing())
}

async function send(options: { unix: string; method: string; body?: string }): Promise<string> {
  const signal = AbortSignal.timeout(limitMs)
  const response = await fetch('http://databases/', { ...options, signal })
  const text = await response.text()
  if (response.ok) return text
  throw new Error(`there is no database for this test: ${text}`)
}

/** Starts a server of databases for a file that runs by itself. It ends with this process, which closes its input. */
async function startServing(): Promise<string> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'serve-databases.ts')], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  child.unref()
  for await (const bytes of child.stdout) return Buffer.from(bytes).toString().trim()
  throw new Error('what makes databases for tests did not start')
}
