import { Modal, NumberInput, Text, Textarea } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { api } from '../../../api/client'
import { ResourceForm } from '../../../components/resource-form'
import { formatLimit } from './limit-text'
import type { DecidedQuotaRequest } from './queries'
import { useRefresh } from '../refresh'
import { quotaNames } from '../../quota/queries'

interface Props {
  request: DecidedQuotaRequest
  verb: 'approve' | 'reject'
  onClose: () => void
}

interface Decision {
  limit: number | string
  note: string
}

/** Approves or rejects a quota request. */
export function Decide({ request, verb, onClose }: Props) {
  const { id, email, quota_type: type } = request
  const isApproval = verb === 'approve'
  const isMoney = type === 'monthly_spend'
  const refresh = useRefresh()
  const form = useForm<Decision>({ initialValues: { limit: request.requested_limit, note: '' } })
  const save = async ({ limit, note }: Decision) => {
    const noteFields = note.trim() === '' ? {} : { note }
    const body = isApproval ? { ...noteFields, limit: Number(limit) } : noteFields
    await api.POST(`/api/admin/quota-requests/{id}/${verb}`, {
      params: { path: { id } },
      body,
    })
    await refresh()
    notifications.show({ message: `The request was ${isApproval ? 'approved' : 'rejected'}.` })
    onClose()
  }
  return (
    <Modal
      opened
      onClose={onClose}
      title={isApproval ? 'Approve the request' : 'Reject the request'}
    >
      <ResourceForm
        form={form}
        save={save}
        label={isApproval ? 'Approve' : 'Reject'}
        onCancel={onClose}
      >
        <Text size="sm">
          {email} has {formatLimit(type, request.current_limit)} ({quotaNames[type].toLowerCase()})
          and asks for {formatLimit(type, request.requested_limit)}.
        </Text>
        {isApproval && (
          <NumberInput
            label="New limit"
            required
            min={isMoney ? 0 : 1}
            decimalScale={isMoney ? 2 : 0}
            prefix={isMoney ? '$' : ''}
            thousandSeparator
            data-autofocus
            {...form.getInputProps('limit')}
          />
        )}
        <Textarea
          label="Note"
          description="Sent to the account by email and to its inbox"
          maxLength={1000}
          autosize
          minRows={2}
          {...form.getInputProps('note')}
        />
      </ResourceForm>
    </Modal>
  )
}
