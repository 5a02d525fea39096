package dev.interlock.security;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A certificate that nobody has signed but itself, made by the JDK's {@code keytool}.
 *
 * @param certificate in the format of OpenSSL
 * @param key the same for its private key
 * @param trustStore a key store with the certificate alone
 */
record Certificate(Path certificate, Path key, Path trustStore) {
    static final String PASSWORD = "changeit";
    private static final String ALIAS = "redis";

    /** Makes one that is made out to that name, such as {@code ip:127.0.0.1}, with its files in that folder. */
    static Certificate of(String name, Path folder) throws IOException, GeneralSecurityException, InterruptedException {
        Path store = folder.resolve("server.p12");
        generate(name, folder, store);
        KeyStore made = KeyStore.getInstance(store.toFile(), PASSWORD.toCharArray());
        Path certificate = pem(folder, "CERTIFICATE", made.getCertificate(ALIAS).getEncoded());
        Path key = pem(
                folder,
                "PRIVATE KEY",
                made.getKey(ALIAS, PASSWORD.toCharArray()).getEncoded());
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry(ALIAS, made.getCertificate(ALIAS));
        Path trustStore = folder.resolve("trust.p12");
        try (OutputStream out = Files.newOutputStream(trustStore)) {
            trusted.store(out, PASSWORD.toCharArray());
        }
        return new Certificate(certificate, key, trustStore);
    }

    private static void generate(String name, Path folder, Path store) throws IOException, InterruptedException {
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                ALIAS,
                "-keyalg",
                "EC",
                "-dname",
                "CN=redis",
                "-ext",
                "san=" + name,
                "-validity",
                "2",
                "-storetype",
                "PKCS12",
                "-keystore",
                store.toString(),
                "-storepass",
                PASSWORD);
        Process keytool = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("keytool.log").toFile())
                .start();
        if (!keytool.waitFor(60, TimeUnit.SECONDS) || keytool.exitValue() != 0) {
            throw new IllegalStateException(Files.readString(folder.resolve("keytool.log")));
        }
    }

    private static Path pem(Path folder, String what, byte[] bytes) throws IOException {
        String lines = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes);
        return Files.writeString(
                folder.resolve(what.replace(' ', '-') + ".pem"),
                "-----BEGIN " + what + "-----\n" + lines + "\n-----END " + what + "-----\n");
    }
}
