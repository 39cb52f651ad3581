import { Badge } from '@mantine/core'
import { logColors, type ListedLog } from './queries'

/** The outcome of a request; a failed one shows the status code sent to the caller. */
export const LogStatus = ({ log }: { log: Pick<ListedLog, 'status' | 'status_code'> }) => (
  <Badge color={logColors[log.status]} variant="light" miw="max-content">
    {log.status === 'error' ? `error ${log.status_code}` : log.status}
  </Badge>
)
