import { NumberInput, Select, Text, Textarea } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import { api } from '../../api/client'
import { ResourceForm } from '../../components/resource-form'
import type { QuotaType } from '../../url/period'
import { quotaNames, quotaRequestsQuery, type Quota } from './queries'
import { inUnit } from './quota-bar'

interface Props {
  type: QuotaType
  quotas: readonly Quota[]
  onClose: () => void
}

/** Requests a limit increase from the operator. */
export function Increase({ type, quotas, onClose }: Props) {
  const queries = useQueryClient()
  const limited = quotas.filter(({ limit }) => limit !== null)
  const form = useForm({
    initialValues: {
      quota_type: limited.some((one) => one.type === type) ? type : (limited[0]?.type ?? type),
      requested_limit: '',
      reason: '',
    },
  })
  const save = async (fields: typeof form.values) => {
    const body = { ...fields, requested_limit: Number(fields.requested_limit) }
    await api.POST('/api/user/quota/request-increase', { body })
    await queries.invalidateQueries(quotaRequestsQuery)
    notifications.show({ message: 'Request sent. You will be notified of the decision by email.' })
    onClose()
  }
  const chosen = limited.find((one) => one.type === form.values.quota_type)
  if (!chosen) return <Text size="sm">Your account has no limits to increase.</Text>
  return (
    <ResourceForm form={form} save={save} label="Send" onCancel={onClose}>
      <Select
        label="Limit"
        allowDeselect={false}
        data={limited.map((one) => ({ value: one.type, label: quotaNames[one.type] }))}
        {...form.getInputProps('quota_type')}
      />
      <NumberInput
        label="New limit"
        description={`Now: ${inUnit(chosen.unit, chosen.limit ?? 0)}`}
        required
        data-autofocus
        decimalScale={chosen.unit === 'usd' ? 2 : 0}
        prefix={chosen.unit === 'usd' ? '$' : ''}
        thousandSeparator
        {...form.getInputProps('requested_limit')}
      />
      <Textarea
        label="Reason"
        description="At least 10 characters"
        autosize
        minRows={3}
        required
        minLength={10}
        maxLength={2000}
        {...form.getInputProps('reason')}
      />
    </ResourceForm>
  )
}
