import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { secretsIn } from './secrets'
import { newApiKey } from '../../../server/src/auth/api-key'

const root = join(import.meta.dir, '../../..')

/** What may be there by kind, and why it opens nothing. */
const harmless: Readonly<Record<string, readonly string[]>> = {
  // Certificates of the tests' own, for names that exist nowhere.
  'private key': ['server/testing/certificates/server.key', 'tests/harness/certificates/local.key'],
}

/** Keys of AWS's own documentation, and of ours that say so. */
const isExample = (text: string) =>
  /^(?:(AKIA|ASIA)(IOSFODNN7EXAMPLE|0123|CANARY)|sk_test_canary)/.test(text)

const made = /(^|\/)(node_modules|dist|data|results)\//

/** The files that git has; in a tree without git, all that are not generated. */
function pathsOfTree(): string[] {
  const { stdout, exitCode } = Bun.spawnSync(['git', 'ls-files', '-z'], { cwd: root })
  if (exitCode === 0) return stdout.toString().split('\0').filter(Boolean)
  const all = [...new Bun.Glob('**/*').scanSync({ cwd: root, dot: true })]
  return all.filter((path) => !made.test(path) && !path.startsWith('.git/'))
}

async function* trackedFiles() {
  const paths = pathsOfTree()
  expect(paths.length).toBeGreaterThan(500)
  for (const path of paths) {
    const file = Bun.file(join(root, path))
    if (await file.exists()) yield { path, text: await file.text() }
  }
}

test('Z03: no file of the repository contains a key that may be in use', async () => {
  const findings: string[] = []
  for await (const { path, text } of trackedFiles()) {
    for (const { kind, text: found } of secretsIn(text)) {
      if (harmless[kind]?.includes(path) || isExample(found)) continue
      // The text itself is not repeated in the log of a CI run.
      findings.push(`${path}: ${kind}, ${found.slice(0, 8)}…`)
    }
  }
  expect(findings).toEqual([])
})

test.each([
  ['a key of ours', newApiKey()],
  ['OpenAI', `sk-proj-${'a1B2_'.repeat(20)}`],
  ['Anthropic', `sk-ant-api03-${'a1B2_'.repeat(20)}`],
  ['Google', `AIza${'a1B2_'.repeat(7)}`],
  ['AWS', `AKIA${'A1B2'.repeat(4)}`],
  ['Stripe', `sk_live_${'a1B2'.repeat(8)}`],
  ['a private key', `-----BEGIN PRIVATE KEY-----\n${'a1B2'.repeat(16)}\n`],
  ['an operator key', `tg-admin-${'a1B2'.repeat(8)}`],
])('one of %s would be found', (_name, secret) => {
  expect(secretsIn(`const key = "${secret}"`)).toHaveLength(1)
})

test('a key of ours with another checksum is an example', () => {
  const key = newApiKey()
  const last = key.endsWith('0') ? '1' : '0'
  expect(secretsIn(`Bearer ${key.slice(0, -1)}${last}`)).toEqual([])
})
