/** Programs in a network of their own, from which nothing gets out and which leaves nothing behind. */

const isRoot = process.getuid?.() === 0

/** In it whoever is not root has leave to make networks too, and is himself to everybody else. */
const unshare = ['unshare', ...(isRoot ? [] : ['--map-current-user', '--keep-caps']), '--net']

/**
 * The processes in it are a family of their own: with the first of them, and with whoever started that,
 * all end, and with them the network. A shell is the first, as somebody has to bury orphans.
 */
export const inNetworkOfItsOwn = [
  ...'setpriv --pdeathsig KILL'.split(' '),
  ...unshare,
  ...'--pid --fork --kill-child=KILL --mount-proc'.split(' '),
  'sh',
  '-c',
  'ip link set lo up && { "$@" & wait $!; }',
  'sh',
]

export const neededPrograms = ['setpriv', 'unshare', 'nsenter', 'ip']

/** Whether `command` runs in one here, to its end. */
export const canRunAlone = (command: readonly string[]): boolean =>
  process.platform === 'linux' &&
  neededPrograms.every((program) => Bun.which(program) !== null) &&
  Bun.spawnSync([...inNetworkOfItsOwn, ...command], { stderr: 'ignore' }).exitCode === 0
