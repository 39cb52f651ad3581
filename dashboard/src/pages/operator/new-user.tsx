import { Checkbox, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { admin, json } from '../../api'
import { FormFrame } from '../../components/form-frame'
import { PlanSelect } from '../../operator/plan-select'
import { useSubmit } from '../../submit'

interface Fields {
  email: string
  display_name: string
  plan_id: string | null
  is_operator: boolean
}

const initialValues: Fields = { email: '', display_name: '', plan_id: null, is_operator: false }

/** Makes an account, and leads to it. */
export function NewUser({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const form = useForm({ initialValues })
  const submission = useSubmit(async (fields: Fields) => {
    const sent = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''))
    const { id, email } = await (await admin.users.$post(undefined, json(sent))).json()
    await queries.invalidateQueries({ queryKey: ['operator', 'users'] })
    notifications.show({ message: `${email} has an account now.` })
    onClose()
    await navigate({ to: '/operator/users/$id', params: { id } })
  }, form)
  return (
    <FormFrame form={form} submission={submission} label="Make it" onCancel={onClose}>
      <TextInput
        label="E-mail"
        description="A mail to it tells how to get in"
        type="email"
        required
        maxLength={254}
        data-autofocus
        {...form.getInputProps('email')}
      />
      <TextInput
        label="Name"
        description="The part of the address before the @ when empty"
        maxLength={100}
        {...form.getInputProps('display_name')}
      />
      <PlanSelect
        label="Plan"
        placeholder="The default one"
        clearable
        {...form.getInputProps('plan_id')}
      />
      <Checkbox
        label="May operate this service"
        description="Sees and changes everything that you do here"
        {...form.getInputProps('is_operator', { type: 'checkbox' })}
      />
    </FormFrame>
  )
}
