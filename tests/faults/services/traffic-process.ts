import { startBalancer } from './balancer'
import { createObservations, sendObserved } from './client-load'
import type { FromTraffic, ToTraffic } from './traffic'

// Clients and their load balancer, started by `startTraffic`: the clients' observations are returned as messages.
const tell = (message: FromTraffic) => process.send?.(message)

let targets: readonly string[] = []
const { probeMs } = JSON.parse(process.argv[2] ?? '{}')
const balancer = startBalancer({ targets: () => targets, probeMs })

process.on('message', async (message: ToTraffic) => {
  if ('targets' in message) targets = message.targets
  else if ('foundWanted' in message) tell({ found: balancer.found() })
  else if ('requestId' in message) {
    const witness = createObservations()
    await sendObserved({ url: balancer.url }, message.worker, witness)
    tell({ answered: message.requestId, ...witness })
  } else tell({ failures: balancer.failures })
})
process.on('disconnect', () => process.exit())
tell({ ready: true })
