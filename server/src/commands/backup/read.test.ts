import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { formatVersion, names, type Contents } from './contents'
import { verify } from './read'
import { openBackup } from './restore'
import { tarEnd, toTar, type TarEntry } from './tar'
import { migrationNames } from '../../platform/db/migrate'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tollgate-backup-'))
})
afterAll(() => rm(directory, { recursive: true }))

const contents: Contents = {
  format: 'tollgate-backup',
  format_version: formatVersion,
  version: '0.1.0',
  made_at: '2026-11-22T10:00:00.000Z',
  postgres: '18',
  migrations: [...migrationNames],
  tables: [{ name: 'users', columns: ['id'] }],
  partitions: [],
  sequences: [],
  files: [],
}

const json = (name: string, value: object): TarEntry => ({
  name,
  bytes: Buffer.from(JSON.stringify(value)),
})

const rows: TarEntry = { name: 'tables/users.000001.copy', bytes: Buffer.from('user_1\nuser_2\n') }

const sumsOf = (entries: readonly TarEntry[]) =>
  json(names.checksums, {
    files: Object.fromEntries(
      entries.map(({ name, bytes }) => [name, createHash('sha256').update(bytes).digest('hex')]),
    ),
    rows: { users: 2 },
  })

const archive = (entries: readonly TarEntry[]) =>
  Buffer.concat([...entries.map((entry) => toTar(entry, 0)), tarEnd])

const good = (listed: object = contents) => {
  const entries = [json(names.contents, listed), rows]
  return archive([...entries, sumsOf(entries)])
}

async function fileOf(bytes: Buffer): Promise<string> {
  const path = join(directory, crypto.randomUUID())
  await writeFile(path, bytes)
  return path
}

test('a whole backup is read, by its contents and checksums', async () => {
  const { contents: read, checksums } = await verify(await fileOf(gzipSync(good())))
  expect(read).toEqual(contents)
  expect(checksums.rows).toEqual({ users: 2 })
})

test('a changed byte anywhere in it is rejected, or was of no file', async () => {
  const bytes = good()
  const verifiedBackup = await verify(await fileOf(gzipSync(bytes)))
  let rejections = 0
  for (let at = 0; at < bytes.length - tarEnd.length; at += 97) {
    const changed = Buffer.from(bytes)
    changed[at] = (changed[at] ?? 0) ^ 1
    const verified = await verify(await fileOf(gzipSync(changed))).catch((thrown: Error) => thrown)
    if (verified instanceof Error) rejections += 1
    else expect({ ...verified, path: verifiedBackup.path }).toEqual(verifiedBackup)
  }
  expect(rejections).toBeGreaterThan(15)
})

test('a backup that was cut anywhere is rejected', async () => {
  const zipped = gzipSync(good())
  const ends = Array.from({ length: Math.ceil(zipped.length / 31) }, (_, at) => at * 31)
  // The last bytes are the packing's own.
  const last = Array.from({ length: 10 }, (_, at) => zipped.length - 1 - at)
  for (const end of [...ends, ...last]) {
    const path = await fileOf(zipped.subarray(0, end))
    await expect(verify(path)).rejects.toThrow(/cannot be restored|no whole backup/)
  }
})

test('reports a file that is not a backup', async () => {
  await expect(verify(await fileOf(Buffer.from('hello')))).rejects.toThrow('cannot be restored')
  const other = archive([json('other.json', {})])
  await expect(verify(await fileOf(gzipSync(other)))).rejects.toThrow('no backup of Tollgate')
})

test('newer ones are rejected: of a newer format, or with a migration that is not known', async () => {
  const format = good({ ...contents, format_version: formatVersion + 1 })
  await expect(openBackup(await fileOf(gzipSync(format)))).rejects.toThrow('is newer than this')
  const migrations = [...migrationNames, '9999-to-come']
  const later = await fileOf(gzipSync(good({ ...contents, migrations })))
  await expect(openBackup(later)).rejects.toThrow('9999-to-come')
})
