import { afterEach, expect, test } from 'bun:test'
import { mkdtemp, readdir, readlink, rm, stat, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unpackPrograms } from './packed-programs'
import { installPrograms } from './programs'
import { createTar } from '../../commands/backup/tar'

let stack = new AsyncDisposableStack()
let usual: number | undefined
afterEach(async () => {
  if (usual !== undefined) process.umask(usual)
  await stack.disposeAsync()
  stack = new AsyncDisposableStack()
})

const bytes = new TextEncoder().encode('a program\n'.repeat(100))

async function createFixture() {
  const home = await mkdtemp(join(tmpdir(), 'tollgate-test-'))
  stack.defer(() => rm(home, { recursive: true }))
  const tar = createTar([
    { name: 'lib/libpq.so.5', mode: 0o777, target: 'libpq.so.5.18' },
    { name: 'lib/libpq.so.5.18', mode: 0o644, bytes },
    { name: 'bin', mode: 0o755 },
    { name: 'lib', mode: 0o755 },
    { name: 'bin/postgres', mode: 0o644, bytes },
  ])
  const archive = join(home, 'archive')
  await Bun.write(archive, await Bun.zstdCompress(tar))
  const sizes = { 'bin/postgres': bytes.length, 'lib/libpq.so.5.18': bytes.length }
  return { home, programs: unpackPrograms({ name: 'server-1-x-abc', archive, sizes }) }
}

test('packed programs are unpacked with their links, readable by another account under any umask', async () => {
  const { home, programs } = await createFixture()
  usual = process.umask(0o077)
  const folder = await installPrograms(home, programs)
  const modes = await Promise.all(
    ['', 'bin', 'bin/postgres', 'lib/libpq.so.5.18'].map(async (path) => {
      return (await stat(join(folder, path))).mode & 0o777
    }),
  )
  expect(modes).toEqual([0o755, 0o755, 0o755, 0o644])
  expect(await readlink(join(folder, 'lib/libpq.so.5'))).toBe('libpq.so.5.18')
  expect(await Bun.file(join(folder, 'bin/postgres')).bytes()).toEqual(bytes)
})

test('once; again where bytes were lost; and other versions go', async () => {
  const { home, programs } = await createFixture()
  await Bun.write(join(home, 'server-0-x-older/bin/postgres'), '')
  const folder = await installPrograms(home, programs)
  expect((await readdir(home)).toSorted()).toEqual(['archive', 'server-1-x-abc'])
  const unpacked = (await stat(folder)).ino
  await installPrograms(home, programs)
  expect((await stat(folder)).ino).toBe(unpacked)
  await truncate(join(folder, 'bin/postgres'), 10)
  await installPrograms(home, programs)
  expect(await Bun.file(join(folder, 'bin/postgres')).bytes()).toEqual(bytes)
})
