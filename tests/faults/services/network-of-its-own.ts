/** Runs programs in an isolated network, which is removed with them. */

const isRoot = process.getuid?.() === 0

/** Inside it, users other than root may create networks too, and keep their own id outside. */
const unshare = ['unshare', ...(isRoot ? [] : ['--map-current-user', '--keep-caps']), '--net']

/**
 * Its processes have their own PID namespace: when the first of them or its parent ends,
 * all end, and with them the network. The first is a shell, which reaps orphans.
 */
export const isolatedNetworkCommand = [
  ...'setpriv --pdeathsig KILL'.split(' '),
  ...unshare,
  ...'--pid --fork --kill-child=KILL --mount-proc'.split(' '),
  'sh',
  '-c',
  'ip link set lo up && { "$@" & wait $!; }',
  'sh',
]

export const neededPrograms = ['setpriv', 'unshare', 'nsenter', 'ip']

/** Tells whether `command` can run in an isolated network on this machine. */
export const canRunAlone = (command: readonly string[]): boolean =>
  process.platform === 'linux' &&
  neededPrograms.every((program) => Bun.which(program) !== null) &&
  Bun.spawnSync([...isolatedNetworkCommand, ...command], { stderr: 'ignore' }).exitCode === 0
