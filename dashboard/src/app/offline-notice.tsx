import { Alert, Box } from '@mantine/core'
import { useNetwork } from '@mantine/hooks'

/** Tells, above the page, that the browser has no network. */
export function OfflineNotice() {
  const { online } = useNetwork()
  return (
    <Box role="status" maw={1180} mx="auto">
      {!online && (
        <Alert color="yellow" title="You are offline" mb="md">
          Pages show what was loaded before. They load again when the connection is back.
        </Alert>
      )}
    </Box>
  )
}
