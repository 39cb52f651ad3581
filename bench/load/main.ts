// The load generator as its own process: receives a plan, returns an outcome, until the parent exits.
import { Burst } from './burst'
import type { Plan } from './plan'

process.on('message', async (plan: Plan) => {
  process.send?.(await new Burst(plan).run())
})
process.on('disconnect', () => process.exit())
process.send?.('ready')
