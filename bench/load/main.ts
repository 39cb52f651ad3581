// The load, as a process of its own: a plan comes, an outcome goes back, until the parent has gone.
import { Burst } from './burst'
import type { Plan } from './plan'

process.on('message', async (plan: Plan) => {
  process.send?.(await new Burst(plan).run())
})
process.on('disconnect', () => process.exit())
process.send?.('ready')
