import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

/** The CPU quota of the control group, in microseconds of a period, in both versions of Linux's interface. */
const quotaFiles = [
  ['/sys/fs/cgroup/cpu.max'],
  ['/sys/fs/cgroup/cpu/cpu.cfs_quota_us', '/sys/fs/cgroup/cpu/cpu.cfs_period_us'],
] as const

/** Returns the processors that a quota such as `200000 100000` allows; Infinity for `max`, -1 and what is no quota. */
export function processorsOf(quota: string): number {
  const [micros = Number.NaN, period = Number.NaN] = quota.trim().split(/\s+/).map(Number)
  return micros > 0 && period > 0 ? Math.max(1, Math.floor(micros / period)) : Infinity
}

/** Returns the processors that this process may use: those of the machine, or fewer by the quota of its container. */
export function usableProcessors(): number {
  const quotas = quotaFiles.map((paths) => processorsOf(paths.map(read).join(' ')))
  return Math.min(availableParallelism(), ...quotas)
}

/** On machines with fewer processors, PostgreSQL and the system need those that one process leaves. */
const minForWorkers = 4

/** Returns how many processes share the port where `WORKERS` is unset. Only Linux divides connections among them. */
export const usualWorkers = (processors: number, platform = process.platform): 'auto' | 1 =>
  processors >= minForWorkers && platform === 'linux' ? 'auto' : 1

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // Another system, or the other version.
    return ''
  }
}
