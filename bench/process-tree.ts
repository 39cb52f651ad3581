import { readdirSync, readFileSync } from 'node:fs'

const microsPerTick = 10_000

interface Process {
  pid: number
  parent: number
  name: string
  /** CPU of all its threads, and of the children that it has waited for. */
  micros: number
}

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // The process has exited meanwhile.
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

/** Returns these processes and all their descendants. */
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

/** Tells whether a process is counted apart from the gateway that started it. */
const isService = ({ name }: Process) => name === 'postgres' || name === 'redis-server'

/** CPU time used so far, in microseconds. */
export interface Cpu {
  /** The gateway: its processes, their threads and children, without its database. */
  own: number
  /** Including its database and cache. */
  all: number
}

const sum = (some: readonly Process[]) => some.reduce((total, { micros }) => total + micros, 0)

export function cpuOf(roots: readonly number[]): Cpu {
  const tree = treeOf(roots)
  return { own: sum(tree.filter((process) => !isService(process))), all: sum(tree) }
}

/** Returns the processes of a gateway, without its database. */
export const ownPids = (roots: readonly number[]): number[] =>
  treeOf(roots)
    .filter((process) => !isService(process))
    .map(({ pid }) => pid)

/** Returns the databases and caches that this process started. */
export const ownServices = (): number[] =>
  treeOf([process.pid])
    .filter((each) => isService(each) && each.parent === process.pid)
    .map(({ pid }) => pid)

/** Returns the resident memory of these processes together, in MB. */
export const residentMbOf = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => {
    const [, kilobytes = '0'] = /VmRSS:\s+(\d+)/.exec(read(`/proc/${pid}/status`)) ?? []
    return sum + Number(kilobytes) / 1024
  }, 0)
