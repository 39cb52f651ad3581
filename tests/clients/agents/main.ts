// Runs agents in the network of this process, which `run-agents.ts` isolates.
// Receives a list of agents with their commands as JSON, and prints a line of JSON for each case.
import { agents } from './agents'
import { runAgent } from './cases'
import { createAgentFixture } from './fixture'
import type { Prepared } from '../prepare'

const [list = '[]'] = process.argv.slice(2)
const selected: { name: string; prepared: Prepared }[] = JSON.parse(list)

await using fixture = await createAgentFixture(agents)
for (const { name, prepared } of selected) {
  const agent = agents.find((one) => one.name === name)
  if (!agent) throw new Error(`There is no agent ${name}.`)
  await runAgent(fixture, { agent, prepared }, (result) =>
    console.log(JSON.stringify({ agent: name, ...result })),
  )
}
