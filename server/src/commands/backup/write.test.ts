import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readEntries, verify } from './read'
import { maxEntryBytes, toTar } from './tar'
import { writeBackup } from './write'
import { openTestDatabase } from '../../../testing/db/database'
import { openSession, type Session } from '../../platform/db/session'

const stack = new AsyncDisposableStack()
let session: Session
let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tollgate-backup-'))
  stack.defer(() => rm(directory, { recursive: true }))
  session = stack.use(await openSession(await openTestDatabase(stack), 60_000))
})
afterAll(() => stack.disposeAsync())

const largest = 4 * 1024 * 1024

test('a value that is larger than any entry may be is backed up so that it can be restored', async () => {
  await session.client.query(`
    update config set settings = jsonb_build_object('large', repeat('x', ${maxEntryBytes + 1}))`)
  const path = join(directory, 'large.tar.gz')
  const { checksums } = await writeBackup(session, path, {
    version: '0.1.0',
    dataDir: directory,
    hasKeys: false,
  })
  expect(checksums.rows).toMatchObject({ config: 1 })
  expect((await verify(path)).checksums).toEqual(checksums)
  let bytes = 0
  for await (const entry of readEntries(path)) {
    expect(entry.bytes.length).toBeLessThanOrEqual(largest)
    if (entry.name.startsWith('tables/config.')) bytes += entry.bytes.length
  }
  expect(bytes).toBeGreaterThan(maxEntryBytes)
  expect(await readdir(directory)).toEqual(['large.tar.gz'])
})

test('rejects an entry above the maximum size', () => {
  const bytes = Buffer.alloc(maxEntryBytes + 1)
  expect(() => toTar({ name: 'tables/config.000001.copy', bytes }, 0)).toThrow('too large')
})
