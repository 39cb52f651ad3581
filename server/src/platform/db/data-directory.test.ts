import { expect, test } from 'bun:test'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDataDirectory } from './data-directory'

const source = JSON.stringify(join(import.meta.dir, 'data-directory.ts'))

/**
 * Opens `path` in `count` processes at the same time; each says what came of it and stays. None
 * keeps what it opened in a variable: a lock must not end when it is collected as garbage.
 */
async function contend(path: string, count: number): Promise<string[]> {
  const at = Date.now() + 400
  const script = `
    const { openDataDirectory } = await import(${source})
    await Bun.sleep(${at} - Date.now())
    try { await openDataDirectory(${JSON.stringify(path)}); console.log('held') }
    catch (thrown) { console.log(thrown.message) }
    process.stdin.on('end', () => process.exit()).resume()`
  const children = Array.from({ length: count }, () =>
    Bun.spawn([process.execPath, '-e', script], { stdin: 'pipe', stdout: 'pipe' }),
  )
  try {
    return await Promise.all(
      children.map(async ({ stdout }) => {
        const { value } = await stdout.getReader().read()
        return new TextDecoder().decode(value).trim()
      }),
    )
  } finally {
    for (const child of children) child.kill('SIGKILL')
    await Promise.all(children.map(({ exited }) => exited))
  }
}

test('is locked by one process of many, and unlocked after a kill', async () => {
  const path = await mkdtemp(join(tmpdir(), 'tollgate-test-'))
  try {
    for (const _round of [1, 2]) {
      const outputs = await contend(path, 4)
      expect(outputs.filter((line) => line === 'held')).toHaveLength(1)
      expect(outputs.filter((line) => line.includes(`${path} is in use`))).toHaveLength(3)
    }
    const opened = await openDataDirectory(path)
    await expect(openDataDirectory(path)).rejects.toThrow(`process ${process.pid}`)
    opened[Symbol.dispose]()
    using again = await openDataDirectory(path)
    expect(again.path).toBe(path)
  } finally {
    await rm(path, { recursive: true })
  }
})

test('is made where it is missing, for us alone to list', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'tollgate-test-'))
  try {
    using opened = await openDataDirectory(join(parent, 'data'))
    expect((await stat(opened.path)).mode & 0o066).toBe(0)
    await writeFile(join(parent, 'file'), '')
    await expect(openDataDirectory(join(parent, 'file'))).rejects.toThrow('DATA_DIR')
  } finally {
    await rm(parent, { recursive: true })
  }
})
