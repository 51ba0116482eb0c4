// Whether calls of libc go through here: not under a sanitizer, which has functions of its own in their place.
#ifndef SANITIZER_H
#define SANITIZER_H

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define FAULT_SHIM_OFF 1
#endif
#endif

#endif
