/** The certificate of an identity provider of tests, whose key no one has. */
export const certificate = `-----BEGIN CERTIFICATE-----
MIIBkDCCATWgAwIBAgIUD2p0ancQeyfI7mG4lhzo4OyP//owCgYIKoZIzj0EAwIw
HDEaMBgGA1UEAwwRbG9naW4uZXhhbXBsZS5jb20wIBcNMjYxMTMwMjMzNzM5WhgP
MjEyNjExMDYyMzM3MzlaMBwxGjAYBgNVBAMMEWxvZ2luLmV4YW1wbGUuY29tMFkw
EwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEiA1kc6dZ0zaIT16egpyRn1quuhScjYpx
npOvmWQJGYcLu0aKuHokT8oec25d+Slki4b4gWlGHRWNQSrbjya3s6NTMFEwHQYD
VR0OBBYEFJXMSf/Q1tAh2C5VEWyzZ35b+J2FMB8GA1UdIwQYMBaAFJXMSf/Q1tAh
2C5VEWyzZ35b+J2FMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSQAwRgIh
ALkKA6FiPfFXm8Neg3QhyG5t3iSRctecVeUJ0JLT/Iu3AiEA7EX5k/h7OfSOgPLp
NYGj+VkLtqB4ioe7BfL/gRf5Ybc=
-----END CERTIFICATE-----`

export const certificateEndMs = Date.parse('2126-11-06T23:37:39Z')
