import { Text } from '@mantine/core'
import type { ListedLog } from './queries'

type RemarkedLog = Pick<ListedLog, 'error' | 'provider' | 'model' | 'requested_model'>

/** The remarks of a row below its model: error, requested model, and the provider where the model's name does not begin with it. */
export function LogRemarks({ log }: { log: RemarkedLog }) {
  const { error, provider, model, requested_model: requested } = log
  const remarks = [
    error && `${error.code}: ${error.message}`,
    provider && !model.startsWith(`${provider}/`) && `by ${provider}`,
    requested && requested !== model && `for ${requested}`,
  ].filter(Boolean)
  return (
    remarks.length > 0 && (
      <Text size="xs" c="dimmed" lineClamp={2} style={{ overflowWrap: 'anywhere' }}>
        {remarks.join(', ')}
      </Text>
    )
  )
}
