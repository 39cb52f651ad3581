import { parseArgs } from 'node:util'
import { fullScale, type Affinity, type ScaleProfile } from './profile'

/** The options of the command. */
export const usage = `Usage: npm run simulate:scale -- [options]

  --nodes 100           nodes, spread evenly over the regions
  --accounts 1000000    accounts, each with a home region
  --regions 3           regions; the database and the store of limits are in the first
  --round-trip 80       milliseconds between the first region and each other one
  --rate 300            requests a second, of all accounts together
  --seconds 60          simulated seconds whose figures are taken, after 30 to warm up
  --loss killed         the last region: killed (its power), cut-off (its network), or none
  --affinity home       requests go to any node of the home region; anywhere; or one node of it: node
  --store postgresql    the store of limits, or redis
  --seed 1              a seed has the same figures each time`

const affinities: readonly Affinity[] = ['anywhere', 'home', 'node']
const losses = ['killed', 'cut-off', 'none'] as const
const stores = ['postgresql', 'redis'] as const

const text = { type: 'string' } as const

/** Reads the command line. Throws an error that names a wrong option. */
export function profileFrom(args: string[]): ScaleProfile {
  const { values } = parseArgs({
    args,
    options: {
      nodes: text,
      accounts: text,
      regions: text,
      'round-trip': text,
      rate: text,
      seconds: text,
      loss: text,
      affinity: text,
      store: text,
      seed: text,
    },
  })
  const { loss: _, ...base } = fullScale
  const regions = readNumber('regions', values.regions, { byDefault: base.regions })
  const loss = readChoice('loss', losses, values.loss ?? (regions > 1 ? 'killed' : 'none'))
  if (loss !== 'none' && regions === 1) throw new Error('--loss needs a second region')
  const number = (name: Exclude<keyof typeof values, undefined>, byDefault: number, min = 1) =>
    readNumber(name, values[name], { byDefault, min })
  return {
    ...base,
    regions,
    nodes: number('nodes', base.nodes, regions),
    accounts: number('accounts', base.accounts),
    farMs: number('round-trip', base.farMs),
    requestsPerSecond: number('rate', base.requestsPerSecond),
    measuredMs: number('seconds', base.measuredMs / 1000) * 1000,
    seed: number('seed', base.seed, 0),
    affinity: readChoice('affinity', affinities, values.affinity ?? base.affinity),
    sliceStore: readChoice('store', stores, values.store ?? base.sliceStore),
    ...(loss === 'none' ? { lostMs: 0 } : { loss: loss === 'killed' ? 'killed' : 'cut off' }),
  }
}

function readNumber(
  name: string,
  given: string | undefined,
  { byDefault, min = 1 }: { byDefault: number; min?: number },
): number {
  const number = given === undefined ? byDefault : Number(given)
  if (!Number.isInteger(number) || number < min)
    throw new Error(`--${name} is ${given}: an integer of at least ${min}`)
  return number
}

function readChoice<Choice extends string>(
  name: string,
  choices: readonly Choice[],
  given: string,
): Choice {
  const chosen = choices.find((one) => one === given)
  if (!chosen) throw new Error(`--${name} is ${given}: ${choices.join(', ')}`)
  return chosen
}
