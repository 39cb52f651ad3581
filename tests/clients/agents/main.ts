// Runs agents in the network that this process is in, which is to be one of its own: `run-agents.ts` sees to that.
// Gets a list of agents and of how their programs are run as JSON, and prints a line of JSON for each case.
import { agents } from './agents'
import { runAgent } from './cases'
import { startAgentStage } from './stage'
import type { Prepared } from '../prepare'

const [list = '[]'] = process.argv.slice(2)
const asked: { name: string; prepared: Prepared }[] = JSON.parse(list)

await using stage = await startAgentStage(agents)
for (const { name, prepared } of asked) {
  const agent = agents.find((one) => one.name === name)
  if (!agent) throw new Error(`There is no agent ${name}.`)
  await runAgent(stage, { agent, prepared }, (result) =>
    console.log(JSON.stringify({ agent: name, ...result })),
  )
}
