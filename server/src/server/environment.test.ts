import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findMisspelt } from './check-environment'
import { fileVariables, readEnvironment } from './environment'
import { StartError } from '../platform/config/config'
import { providers } from '../providers/registry'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'secrets-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function write(name: string, text: string): Promise<string> {
  const path = join(folder, name)
  await Bun.write(path, text)
  return path
}

test('the value of a variable is the text of its file, without the line breaks at its end', async () => {
  const environment = {
    DATABASE_URL_FILE: await write('url', 'postgres://user:pass@host/db\n'),
    ADMIN_KEY_FILE: await write('key', ' sixteen letters, spaces kept \r\n\n'),
    OPENAI_API_KEY_FILE: await write('openai', 'sk-of-a-file'),
    PORT: '8080',
  }
  expect(readEnvironment(environment)).toEqual({
    ...environment,
    DATABASE_URL: 'postgres://user:pass@host/db',
    ADMIN_KEY: ' sixteen letters, spaces kept ',
    OPENAI_API_KEY: 'sk-of-a-file',
  })
})

test.each(fileVariables())('%s can be in a file', async (name) => {
  const path = await write(name, `the value of ${name}\n`)
  expect(readEnvironment({ [`${name}_FILE`]: path })[name]).toBe(`the value of ${name}`)
  expect(findMisspelt({ [`${name}_FILE`]: path }, providers)).toEqual([])
})

test('other programs’ variables are not read, an empty one is unset', () => {
  const environment = {
    LOG_FILE: '/missing',
    PIP_CONFIG_FILE: '/missing',
    // Settings without secrets.
    PORT_FILE: '/missing',
    DATA_DIR_FILE: '/missing',
    ADMIN_KEY_FILE: '',
  }
  expect(readEnvironment(environment)).toEqual(environment)
})

test('a variable in both forms is rejected, an empty one is not', async () => {
  const ADMIN_KEY_FILE = await write('admin', 'of-the-file-0123456789')
  const both = { ADMIN_KEY: 'of-the-environment', ADMIN_KEY_FILE }
  expect(() => readEnvironment(both)).toThrow(
    new StartError('ADMIN_KEY_FILE: set either this or ADMIN_KEY'),
  )
  const { ADMIN_KEY } = readEnvironment({ ADMIN_KEY: '', ADMIN_KEY_FILE })
  expect(ADMIN_KEY).toBe('of-the-file-0123456789')
})

test('a file that cannot be read, is empty or too large is rejected, by name and without its text', async () => {
  const rejected = [
    [join(folder, 'missing'), 'cannot be read (ENOENT)'],
    [folder, 'cannot be read (EISDIR)'],
    [await write('empty', '\n'), 'is empty'],
    [await write('large', 'x'.repeat(65_537)), 'is larger than 64 kB'],
    ['/dev/zero', 'is larger than 64 kB'],
  ] as const
  for (const [path, reason] of rejected) {
    expect(() => readEnvironment({ SMTP_URL_FILE: path })).toThrow(
      new StartError(`SMTP_URL_FILE: ${path} ${reason}`),
    )
  }
  const { SMTP_URL } = readEnvironment({ SMTP_URL_FILE: await write('full', 'x'.repeat(65_536)) })
  expect(SMTP_URL).toHaveLength(65_536)
})
