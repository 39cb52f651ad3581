import { expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Findings } from './namespace-guard'

/** A network of one's own, where no packet can get out: as root, or as the root of a user namespace. */
const unshare =
  process.getuid?.() === 0 ? ['unshare', '--net'] : ['unshare', '--map-root-user', '--net']

const canUnshare =
  process.platform === 'linux' &&
  Bun.which('unshare') !== null &&
  Bun.which('ip') !== null &&
  Bun.spawnSync([...unshare, 'ip', 'link', 'set', 'lo', 'up']).exitCode === 0

if (!canUnshare) {
  console.log(
    'NOT RUN: X01 to X05 on real addresses. They want Linux, `unshare` and `ip`, and leave to make a network namespace.',
  )
}

test.skipIf(!canUnshare)(
  'X01 to X05, X10: on a machine that has every address there is, only public ones are connected to',
  async () => {
    const script = join(import.meta.dir, 'namespace-guard.ts')
    const child = Bun.spawn([...unshare, process.execPath, script], {
      env: { PATH: process.env['PATH'] },
      stdout: 'pipe',
      stderr: 'inherit',
    })
    const text = await new Response(child.stdout).text()
    expect(await child.exited).toBe(0)
    const { reached, refused, trespassed, own }: Findings = JSON.parse(text)
    expect(trespassed).toEqual([])
    const both = ['a93-184-215-14.wild.example', 'a2606-4700-1--1.wild.example']
    const open = both.flatMap((name) => [name, `mixed-${name}`])
    expect(reached).toEqual(Object.fromEntries(open.map((name) => [name, 200])))
    expect(Object.keys(refused)).toHaveLength(70)
    expect(new Set(Object.values(refused))).toEqual(new Set(['AddressRefused']))
    expect(own).toHaveLength(74)
  },
)
