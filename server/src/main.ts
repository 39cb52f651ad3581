import { runProgram } from './server/program'

await runProgram({ startedAt: performance.now(), exit: (code) => process.exit(code) })
