import { readdirSync, readFileSync } from 'node:fs'

const microsPerTick = 10_000

interface Process {
  pid: number
  parent: number
  name: string
  /** All its threads, and the children that it has waited for. */
  micros: number
}

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // The process has ended meanwhile.
    return ''
  }
}

function processOf(pid: number): Process[] {
  const text = read(`/proc/${pid}/stat`)
  const end = text.lastIndexOf(')')
  if (end < 0) return []
  const name = text.slice(text.indexOf('(') + 1, end)
  const fields = text.slice(end + 2).split(' ')
  const ticks = [11, 12, 13, 14].reduce((sum, field) => sum + Number(fields[field]), 0)
  return [{ pid, parent: Number(fields[1]), name, micros: ticks * microsPerTick }]
}

/** These processes and all that they started. */
function treeOf(roots: readonly number[]): Process[] {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger)
  const all = pids.flatMap(processOf)
  const inTree = new Set(roots)
  for (let before = -1; before < inTree.size;) {
    before = inTree.size
    for (const { pid, parent } of all) if (inTree.has(parent)) inTree.add(pid)
  }
  return all.filter(({ pid }) => inTree.has(pid))
}

/** What is counted apart from the gateway that started it. */
const isService = ({ name }: Process) => name === 'postgres' || name === 'redis-server'

/** CPU time so far, in microseconds. */
export interface Cpu {
  /** The gateway: its processes, their threads and children, but for its database. */
  own: number
  /** With the database and the cache that it started or was given. */
  all: number
}

const sum = (some: readonly Process[]) => some.reduce((total, { micros }) => total + micros, 0)

export function cpuOf(roots: readonly number[]): Cpu {
  const tree = treeOf(roots)
  return { own: sum(tree.filter((process) => !isService(process))), all: sum(tree) }
}

/** The processes of a gateway, without its database. */
export const ownPids = (roots: readonly number[]): number[] =>
  treeOf(roots)
    .filter((process) => !isService(process))
    .map(({ pid }) => pid)

/** The databases and caches that this very process started. */
export const ownServices = (): number[] =>
  treeOf([process.pid])
    .filter((each) => isService(each) && each.parent === process.pid)
    .map(({ pid }) => pid)

/** Resident memory of these processes together, in MB. */
export const residentMbOf = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => {
    const [, kilobytes = '0'] = /VmRSS:\s+(\d+)/.exec(read(`/proc/${pid}/status`)) ?? []
    return sum + Number(kilobytes) / 1024
  }, 0)
