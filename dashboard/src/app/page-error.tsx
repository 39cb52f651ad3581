import { Box } from '@mantine/core'
import { Failure } from '../components/failure'
import { PageLoadError } from './lazy-page'

interface Props {
  error: unknown
  reset: () => void
}

const messageOf = (thrown: unknown) => (thrown instanceof Error ? thrown.message : String(thrown))

/** Stands in the place of a page that could not be loaded or rendered. */
export function PageError({ error, reset }: Props) {
  const retry = async () => {
    if (error instanceof PageLoadError) await error.reload()
    reset()
  }
  return (
    <Box p="md">
      <Failure messages={[messageOf(error)]} retry={() => void retry()} />
    </Box>
  )
}
