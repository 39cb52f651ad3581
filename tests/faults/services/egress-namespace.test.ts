import { expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Findings } from './namespace-guard'
import type { SecondLayer } from './namespace-second-layer'

/** The command for an isolated network, as root, or as root of a user namespace. */
const unshare =
  process.getuid?.() === 0 ? ['unshare', '--net'] : ['unshare', '--map-root-user', '--net']

const canUnshare =
  process.platform === 'linux' &&
  Bun.which('unshare') !== null &&
  Bun.which('ip') !== null &&
  Bun.spawnSync([...unshare, 'ip', 'link', 'set', 'lo', 'up']).exitCode === 0

if (!canUnshare) {
  console.log(
    'NOT RUN: X01 to X05 on real addresses. They require Linux, `unshare`, `ip`, and permission to create a network namespace.',
  )
}

test.skipIf(!canUnshare)(
  'X01 to X05, X10: on a machine with addresses of every kind, only public ones are connected to',
  async () => {
    const script = join(import.meta.dir, 'namespace-guard.ts')
    const child = Bun.spawn([...unshare, process.execPath, script], {
      env: { PATH: process.env['PATH'] },
      stdout: 'pipe',
      stderr: 'inherit',
    })
    const text = await new Response(child.stdout).text()
    expect(await child.exited).toBe(0)
    const { reached, refused, trespassed, own, literal }: Findings = JSON.parse(text)
    expect(trespassed).toEqual([])
    const both = ['a93-184-215-14.wild.example', 'a2606-4700-1--1.wild.example']
    const open = both.flatMap((name) => [name, `mixed-${name}`])
    expect(reached).toEqual(Object.fromEntries(open.map((name) => [name, 200])))
    expect(Object.keys(refused)).toHaveLength(70)
    expect(new Set(Object.values(refused))).toEqual(new Set(['AddressRefused']))
    expect(own).toHaveLength(74)
    // X23: they are connected to, but their certificate does not name them.
    expect(literal).toEqual(['ConnectionFailed', 'ConnectionFailed'])
  },
)

const isRoot = process.getuid?.() === 0
if (!isRoot)
  console.log('NOT RUN: X18, the second layer. It changes its user id, which requires root.')

test.skipIf(!canUnshare || !isRoot)(
  'X18: without the guard, the rules of SECURITY.md for a user id suffice',
  async () => {
    const script = join(import.meta.dir, 'namespace-second-layer.ts')
    const child = Bun.spawn([...unshare, process.execPath, script], {
      env: { PATH: process.env['PATH'] },
      stdout: 'pipe',
      stderr: 'inherit',
    })
    const text = await new Response(child.stdout).text()
    expect(await child.exited).toBe(0)
    const { before, after, reached }: SecondLayer = JSON.parse(text)
    // Other users reach all of them, which proves that the rules are effective.
    expect(before.length).toBe(35)
    // The ISATAP identifier is in the second half of the address, which routing rules do not match.
    expect(after).toEqual(['2a00:1450::5efe:a01:203'])
    expect(reached).toBe(2)
  },
)
