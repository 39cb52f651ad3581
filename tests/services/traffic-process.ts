import { startBalancer } from './balancer'
import { newWitness, witnessed } from './client-load'
import type { FromTraffic, ToTraffic } from './traffic'

// Clients and their balancer, started by `startTraffic`: what the clients saw goes back as messages.
const tell = (message: FromTraffic) => process.send?.(message)

let targets: readonly string[] = []
const { probeMs } = JSON.parse(process.argv[2] ?? '{}')
const balancer = startBalancer({ targets: () => targets, probeMs })

process.on('message', async (message: ToTraffic) => {
  if ('targets' in message) targets = message.targets
  else if ('asked' in message) {
    const witness = newWitness()
    await witnessed({ url: balancer.url }, message.worker, witness)
    tell({ answered: message.asked, ...witness })
  } else tell({ failures: balancer.failures })
})
process.on('disconnect', () => process.exit())
tell({ ready: true })
