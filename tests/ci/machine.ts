import { readFile } from 'node:fs/promises'
import os from 'node:os'

/** A reading of the machine's counters; `undefined` parts where the system has none. */
export interface MachineReading {
  atMs: number
  /** Clock ticks since the start: all, those without work, those that other virtual machines took. */
  ticks?: { all: number; idle: number; stolen: number }
}

/** The machine between two readings. */
export interface MachineUse {
  /** Mean number of processes that were ready to run at the end. */
  load: number
  /** Shares of all processors in percent; absent where the system does not count them. */
  busyPercent?: number
  stolenPercent?: number
}

/** Reads the counters of Linux, in /proc/stat as proc(5) describes it; elsewhere the time only. */
export async function readMachine(): Promise<MachineReading> {
  const atMs = performance.now()
  const text = await readFile('/proc/stat', 'utf8').catch(() => undefined)
  const line = text?.split('\n')[0]
  if (!line) return { atMs }
  const [user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, stolen = 0] =
    line.split(/\s+/).slice(1).map(Number)
  const all = user + nice + system + idle + iowait + irq + softirq + stolen
  return { atMs, ticks: { all, idle: idle + iowait, stolen } }
}

/** Returns what the machine did between two readings. */
export function machineUse(from: MachineReading, to: MachineReading): MachineUse {
  const load = os.loadavg()[0] ?? 0
  if (!from.ticks || !to.ticks) return { load }
  const all = Math.max(1, to.ticks.all - from.ticks.all)
  const idle = to.ticks.idle - from.ticks.idle
  const stolen = to.ticks.stolen - from.ticks.stolen
  return {
    load,
    busyPercent: (100 * (all - idle - stolen)) / all,
    stolenPercent: (100 * stolen) / all,
  }
}
