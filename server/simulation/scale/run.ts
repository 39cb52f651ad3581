// `npm run simulate:scale`: simulates many nodes in several regions, and prints the figures; `-- --help` lists the
// options. The exit code is 1 if a promise was broken.
import { profileFrom, usage } from './options'
import type { ScaleProfile } from './profile'
import { reportScale } from './report'
import { simulateScale } from './scale-world'

/** Beyond so much memory garbage is collected at once: a run allocates faster than the engine collects by itself. */
const maxResident = 1.5e9

const cpuSeconds = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}
const gigabytes = () => (process.memoryUsage.rss() / 1e9).toFixed(1)

function readProfile(): ScaleProfile {
  try {
    return profileFrom(process.argv.slice(2))
  } catch (thrown) {
    console.error(`${thrown instanceof Error ? thrown.message : String(thrown)}\n\n${usage}`)
    return process.exit(2)
  }
}

if (process.argv.includes('--help')) {
  console.log(usage)
  process.exit()
}
const outcome = simulateScale(readProfile(), ({ simulatedMs, events }) => {
  if (process.memoryUsage.rss() > maxResident) Bun.gc(true)
  const simulated = `${(simulatedMs / 1000).toFixed(0)} s simulated`
  console.error(`${simulated}, ${events} events, ${cpuSeconds().toFixed(0)} s, ${gigabytes()} GB`)
})
console.log(reportScale(outcome))
const { simulatedMs, events, promises } = outcome
console.log(
  `\n${(simulatedMs / 1000).toFixed(0)} simulated seconds, ${events} events, ` +
    `${cpuSeconds().toFixed(0)} s of processor time, ${gigabytes()} GB of memory`,
)
process.exitCode = promises.broken.size === 0 ? 0 : 1
