import { expect, test } from 'bun:test'
import { canRunAlone, isolatedNetworkCommand, neededPrograms } from './network-of-its-own'

/** Runs tests in an isolated network, which is removed with them. */

/** A probe for the features that tests need: a nested network, and a veth pair between the two. */
const probe =
  'unshare --net sleep 60 & ' +
  'while kill -0 $! && [ "$(readlink /proc/$!/ns/net)" = "$(readlink /proc/self/ns/net)" ]; do sleep 0.02; done; ' +
  'ip link add name one type veth peer name two netns $! && nsenter --net=/proc/$!/ns/net ip link set two up && kill $!'

const mark = 'TOLLGATE_TESTS_ALONE'

/**
 * Runs the tests of a file in an isolated network, by another `bun test` of the same file, in which `tests`
 * defines them. `limitMs` is for all of them.
 */
export function runInIsolatedNetwork(
  { name, path, limitMs }: { name: string; path: string; limitMs: number },
  tests: () => void,
): void {
  if (process.env[mark] === path) return tests()
  const isPossible = canRunAlone(['sh', '-c', probe])
  if (!isPossible) {
    console.log(
      `NOT RUN: ${name}. It wants Linux, ${neededPrograms.join(', ')}, and leave to make network namespaces.`,
    )
  }
  test.skipIf(!isPossible)(
    name,
    async () => {
      const child = Bun.spawn(
        [...isolatedNetworkCommand, process.execPath, 'test', '--timeout', '60000', path],
        {
          env: { ...process.env, [mark]: path },
          stdin: 'ignore',
          stdout: 'inherit',
          stderr: 'inherit',
        },
      )
      try {
        expect(await child.exited).toBe(0)
      } finally {
        child.kill('SIGKILL')
      }
    },
    limitMs,
  )
}
