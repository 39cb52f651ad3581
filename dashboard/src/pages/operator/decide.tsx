import { Modal, NumberInput, Text, Textarea } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { admin, json } from '../../api'
import { FormFrame } from '../../components/form-frame'
import { limitWords } from '../../operator/limit-words'
import type { Asked } from '../../operator/quota-requests'
import { useRefresh } from '../../operator/refresh'
import { quotaNames } from '../../quota'
import { useSubmit } from '../../submit'

interface Props {
  asked: Asked
  verb: 'approve' | 'reject'
  onClose: () => void
}

interface Decision {
  limit: number | string
  note: string
}

/** Approves or rejects a quota request. */
export function Decide({ asked, verb, onClose }: Props) {
  const { id, email, quota_type: type } = asked
  const isApproval = verb === 'approve'
  const isMoney = type === 'monthly_spend'
  const refresh = useRefresh()
  const form = useForm<Decision>({ initialValues: { limit: asked.requested_limit, note: '' } })
  const submission = useSubmit(async ({ limit, note }: Decision) => {
    const said = note.trim() === '' ? {} : { note }
    const sent = json(isApproval ? { ...said, limit: Number(limit) } : said)
    await admin['quota-requests'][':id'][verb].$post({ param: { id } }, sent)
    await refresh()
    notifications.show({ message: `The request was ${isApproval ? 'approved' : 'rejected'}.` })
    onClose()
  }, form)
  return (
    <Modal
      opened
      onClose={onClose}
      title={isApproval ? 'Approve the request' : 'Reject the request'}
    >
      <FormFrame
        form={form}
        submission={submission}
        label={isApproval ? 'Approve' : 'Reject'}
        onCancel={onClose}
      >
        <Text size="sm">
          {email} has {limitWords(type, asked.current_limit)} ({quotaNames[type].toLowerCase()}) and
          asks for {limitWords(type, asked.requested_limit)}.
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
      </FormFrame>
    </Modal>
  )
}
