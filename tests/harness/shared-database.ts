import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { dropDatabase, newDatabase } from '../../server/testing/databases'

type Environment = Record<string, string>

/** In a data directory whose gateway has a database in the PostgreSQL that all tests share: two lines. */
const note = (dataDir: string) => join(dataDir, 'database-of-tests')

/** The settings of a gateway that has such a database; undefined for a data directory with another. */
export async function sharedSettings(dataDir: string): Promise<Environment | undefined> {
  const text = await readFile(note(dataDir), 'utf8').catch(() => '')
  const [url, key] = text.split('\n')
  return url && key ? { DATABASE_URL: url, ENCRYPTION_KEY: key } : undefined
}

/** The same, and makes the database where there is none yet. */
export async function sharedDatabase(dataDir: string): Promise<Environment> {
  const known = await sharedSettings(dataDir)
  if (known) return known
  const url = await newDatabase()
  const key = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64')
  await writeFile(note(dataDir), `${url}\n${key}\n`)
  return { DATABASE_URL: url, ENCRYPTION_KEY: key }
}

/** For a data directory that goes. */
export async function dropSharedDatabase(dataDir: string): Promise<void> {
  const url = (await sharedSettings(dataDir))?.['DATABASE_URL']
  if (url) await dropDatabase(url)
}
