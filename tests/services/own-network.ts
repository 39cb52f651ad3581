import { expect, test } from 'bun:test'

/** Tests that run in a network of their own, from which nothing gets out and which leaves nothing behind. */

const isRoot = process.getuid?.() === 0

/** In it whoever is not root has leave to make networks too, and is himself to everybody else. */
const unshare = ['unshare', ...(isRoot ? [] : ['--map-current-user', '--keep-caps']), '--net']

/**
 * The processes in it are a family of their own: with the first of them, and with whoever started that,
 * all end, and with them the network. A shell is the first, as somebody has to bury orphans.
 */
const alone = [
  ...'setpriv --pdeathsig KILL'.split(' '),
  ...unshare,
  ...'--pid --fork --kill-child=KILL --mount-proc'.split(' '),
  'sh',
  '-c',
  'ip link set lo up && { "$@" & wait $!; }',
  'sh',
]

const programs = ['setpriv', 'unshare', 'nsenter', 'ip']

/** Another network within it, and a cable between the two, are what its tests are made of. */
const probe =
  'unshare --net sleep 9 & sleep 0.2; ip link add name one type veth peer name two netns $! && ' +
  'nsenter --net=/proc/$!/ns/net ip link set two up'

const mark = 'TOLLGATE_TESTS_ALONE'

const canRun = () =>
  process.platform === 'linux' &&
  programs.every((program) => Bun.which(program) !== null) &&
  Bun.spawnSync([...alone, 'sh', '-c', probe], { stderr: 'ignore' }).exitCode === 0

/**
 * Has the tests of a file run in a network of their own, by another `bun test` of the same file. `tests`
 * defines them, there. `limitMs` is for all of them.
 */
export function inOwnNetwork(
  { name, path, limitMs }: { name: string; path: string; limitMs: number },
  tests: () => void,
): void {
  if (process.env[mark] === path) return tests()
  const isPossible = canRun()
  if (!isPossible) {
    console.log(
      `NOT RUN: ${name}. It wants Linux, ${programs.join(', ')}, and leave to make network namespaces.`,
    )
  }
  test.skipIf(!isPossible)(
    name,
    async () => {
      const child = Bun.spawn([...alone, process.execPath, 'test', '--timeout', '60000', path], {
        env: { ...process.env, [mark]: path },
        stdin: 'ignore',
        stdout: 'inherit',
        stderr: 'inherit',
      })
      try {
        expect(await child.exited).toBe(0)
      } finally {
        child.kill('SIGKILL')
      }
    },
    limitMs,
  )
}
