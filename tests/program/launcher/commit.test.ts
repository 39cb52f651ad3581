import { afterEach, describe, expect, test } from 'bun:test'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { findCommit, toBuildVersion } from '../../../bin/commit.mjs'

const commit = '41fc8a0c32f1a6e9d8b7c6d5e4f3a2b1c0d9e8f7'
const short = '41fc8a0c32f1'
const folders: string[] = []

afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
})

/** Returns a checkout with files, by their paths in it. */
async function checkout(files: Record<string, string>): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'tollgate-test-'))
  folders.push(root)
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true })
    await writeFile(join(root, name), text)
  }
  return root
}

const branch = 'ref: refs/heads/main\n'

describe('finding N18: the commit of a checkout, without git', () => {
  test.each<[string, Record<string, string>]>([
    ['a branch', { '.git/HEAD': branch, '.git/refs/heads/main': `${commit}\n` }],
    ['a detached head', { '.git/HEAD': `${commit}\n` }],
    [
      'packed references',
      {
        '.git/HEAD': branch,
        '.git/packed-refs': `# pack-refs with: peeled\n${'0'.repeat(40)} refs/heads/a\n${commit} refs/heads/main\n`,
      },
    ],
    [
      'a worktree',
      {
        '.git': 'gitdir: other/.git/worktrees/one\n',
        'other/.git/worktrees/one/HEAD': branch,
        'other/.git/worktrees/one/commondir': '../..\n',
        'other/.git/refs/heads/main': `${commit}\n`,
      },
    ],
  ])('%s', async (_name, files) => {
    expect(findCommit(await checkout(files), {})).toBe(short)
  })

  test.each<[string, Record<string, string>]>([
    ['no git directory', {}],
    ['a branch without a commit', { '.git/HEAD': branch }],
    ['a damaged one', { '.git/HEAD': 'ref: ../../etc/passwd\n' }],
    ['an empty one', { '.git/HEAD': '' }],
  ])('%s has none', async (_name, files) => {
    expect(findCommit(await checkout(files), {})).toBeUndefined()
  })

  test('TOLLGATE_COMMIT names it where it is a commit', async () => {
    const root = await checkout({ '.git/HEAD': commit })
    expect(findCommit(root, { TOLLGATE_COMMIT: 'abcdef0123456789' })).toBe('abcdef012345')
    for (const TOLLGATE_COMMIT of ['', 'main', '$(git rev-parse HEAD)']) {
      expect(findCommit(root, { TOLLGATE_COMMIT })).toBe(short)
    }
  })

  test('two builds of one version differ', () => {
    expect(toBuildVersion('1.2.3', short)).toBe('1.2.3+41fc8a0c32f1')
    expect(toBuildVersion('1.2.3', undefined)).toBe('1.2.3')
  })
})

test('finding N18: --version and the server have the commit of the checkout', async () => {
  const launcher = join(import.meta.dir, '../../../bin')
  const main = 'console.log(process.env.TOLLGATE_COMMIT)'
  const root = await checkout({
    'package.json': '{ "version": "1.2.3" }',
    'server/src/main.ts': main,
    '.git/HEAD': branch,
    '.git/refs/heads/main': `${commit}\n`,
  })
  await cp(launcher, join(root, 'bin'), { recursive: true })
  const run = (command: string, environment: Record<string, string> = {}) =>
    Bun.spawnSync(['node', join(root, 'bin/tollgate.mjs'), command], {
      env: { PATH: process.env['PATH'], TOLLGATE_BUN: process.execPath, ...environment },
    }).stdout.toString()
  expect(run('--version')).toBe('1.2.3+41fc8a0c32f1\n')
  expect(run('start')).toBe('41fc8a0c32f1\n')
  expect(run('start', { TOLLGATE_COMMIT: '0123456789abcdef' })).toBe('0123456789ab\n')
})
